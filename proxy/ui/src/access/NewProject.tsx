import { useMemo, useState } from "react";
import { useLocation } from "wouter";
import { bodyOf, POST } from "../api/client";
import { RequestError } from "../api/problem";
import { queryClient } from "../api/queries";
import { Button } from "../components/Button";
import { ComboField } from "../components/ComboField";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { OtherFailure } from "../components/Notice";
import { RequiredNote } from "../components/Required";
import { showToast } from "../components/toast";
import { readerZone, zones } from "../format/zone";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { slugError, slugOf } from "../template/slug";

const t = pageMessages.access;

/** Asks for a project name, creates the project and opens it. */
export default function NewProject({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState({
    slug: "",
    name: "",
    zone: readerZone() ?? "",
  });
  const known = useMemo(zones, []);
  const trimmedSlug = draft.slug.trim();
  const isUntouched = draft.name === "" && draft.slug === "";
  const slugProblem = slugError(trimmedSlug);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const rejection = error instanceof RequestError ? error : null;
  const create = async () => {
    setRunning(true);
    try {
      const { slug, name } = await bodyOf(
        POST("/v1/projects", {
          body: {
            slug: trimmedSlug,
            ...(draft.name.trim() !== "" && { name: draft.name.trim() }),
            ...(draft.zone.trim() !== "" && { time_zone: draft.zone.trim() }),
          },
        }),
      );
      await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "projects" });
      showToast(t.projectCreated(name));
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
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button kind="main" onPress={create} isDisabled={isRunning || slugProblem !== undefined}>
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
        error={(isUntouched ? undefined : slugProblem) ?? rejection?.at("/slug")}
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
