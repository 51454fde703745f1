import { useMemo, useState } from "react";
import { useLocation } from "wouter";
import { answer, POST } from "../api/client";
import { RequestError } from "../api/problem";
import { queryClient } from "../api/queries";
import { Button } from "../components/Button";
import { ComboField } from "../components/ComboField";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { OtherFailure } from "../components/Notice";
import { RequiredNote } from "../components/Required";
import { sayDone } from "../components/toast";
import { readerZone, zones } from "../format/zone";
import { words } from "../language";
import { pageWords } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { slugFault, slugOf } from "../template/slug";

const t = pageWords.access;

/** Asks for a project name, creates the project and opens it. */
export default function NewProject({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState({
    slug: "",
    name: "",
    zone: readerZone() ?? "",
  });
  const known = useMemo(zones, []);
  const wanted = draft.slug.trim();
  const isUntouched = draft.name === "" && draft.slug === "";
  const fault = slugFault(wanted);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const rejection = error instanceof RequestError ? error : null;
  const create = async () => {
    setRunning(true);
    try {
      const { slug, name } = await answer(
        POST("/v1/projects", {
          body: {
            slug: wanted,
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
          <Button kind="main" onPress={create} isDisabled={isRunning || fault !== undefined}>
            {t.createProject}
          </Button>
        </>
      }
    >
      <TextField
        label={t.projectName}
        value={draft.name}
        // The slug follows the name until the user edits it.
        onChange={(name) =>
          setDraft({ ...draft, name, ...(draft.slug === slugOf(draft.name) && { slug: slugOf(name) }) })
        }
        error={rejection?.at("/name")}
        autoFocus
      />
      <TextField
        label={t.slug}
        isRequired
        hint={isUntouched ? t.slugFirst : t.slugHint}
        value={draft.slug}
        onChange={(slug) => setDraft({ ...draft, slug })}
        error={(isUntouched ? undefined : fault) ?? rejection?.at("/slug")}
        isCode
      />
      <ComboField
        label={t.timeZone}
        hint={t.timeZoneHint}
        choices={known}
        value={draft.zone}
        onChange={(zone) => setDraft({ ...draft, zone })}
        error={rejection?.at("/time_zone")}
      />
      <RequiredNote />
      <OtherFailure error={error} fields={["/slug", "/name", "/time_zone"]} />
    </Dialog>
  );
}
