import { useState } from "react";
import { useLocation } from "wouter";
import { answer, POST } from "../api/client";
import { RequestError } from "../api/problem";
import { queryClient } from "../api/queries";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { OtherFailure } from "../components/Notice";
import { sayDone } from "../components/toast";
import { words } from "../language";
import { pageWords } from "../language/pages";
import { addresses } from "../navigation/addresses";

const t = pageWords.access;

/** Asks what a project is called, creates it and opens it. */
export default function NewProject({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState({
    slug: "",
    name: "",
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const refusal = error instanceof RequestError ? error : null;
  const create = async () => {
    setRunning(true);
    try {
      const { slug, name } = await answer(
        POST("/v1/projects", {
          body: {
            slug: draft.slug.trim(),
            ...(draft.name.trim() !== "" && { name: draft.name.trim() }),
            ...(draft.zone.trim() !== "" && { time_zone: draft.zone.trim() }),
          },
        }),
      );
      await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "projects" });
      sayDone(t.projectCreated(name));
      navigate(addresses.project(slug));
    } catch (error) {
      setError(error);
      setRunning(false);
    }
  };
  return (
    <Dialog
      title={t.newProject}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{words.components.cancel}</Button>
          <Button kind="main" onPress={create} isDisabled={isRunning || draft.slug.trim() === ""}>
            {t.createProject}
          </Button>
        </>
      }
    >
      <TextField
        label={t.projectName}
        value={draft.name}
        onChange={(name) => setDraft({ ...draft, name })}
        error={refusal?.at("/name")}
        autoFocus
      />
      <TextField
        label={t.slug}
        hint={t.slugHint}
        value={draft.slug}
        onChange={(slug) => setDraft({ ...draft, slug })}
        error={refusal?.at("/slug")}
        isCode
      />
      <TextField
        label={t.timeZone}
        hint={t.timeZoneHint}
        value={draft.zone}
        onChange={(zone) => setDraft({ ...draft, zone })}
        error={refusal?.at("/time_zone")}
      />
      <OtherFailure error={error} fields={["/slug", "/name", "/time_zone"]} />
    </Dialog>
  );
}
