import { useState } from "react";
import { readAdministrationAgain, useRoles } from "../api/administration";
import { bodyOf, inProject, POST, type Schemas } from "../api/client";
import { RequestError } from "../api/problem";
import { useMe, useProjects } from "../api/queries";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Choices } from "../components/Choices";
import { Code } from "../components/Code";
import { Dialog } from "../components/Dialog";
import { Rejection, TextField } from "../components/Field";
import { Notice, OtherFailure } from "../components/Notice";
import { RequiredNote } from "../components/Required";
import { Select } from "../components/Select";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import style from "./Access.module.css";

const t = pageMessages.access;
const DAY = 86_400_000;

type IssuedKey = Pick<Schemas["NewApiKey"], "id" | "key" | "label" | "role">;
type Days = "30" | "90" | "365" | "0";
const DAYS: Days[] = ["30", "90", "365", "0"];

type Props = { project: string; onClose: () => void };

/** Issues a key and shows it once. Only this dialog holds it. */
export function IssueKey({ project, onClose }: Props) {
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  if (issued === null) return <Form project={project} onClose={onClose} onIssued={setIssued} />;
  return (
    <Dialog
      title={t.issuedTitle}
      isOpen
      isQuestion
      isShownOnce
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          {t.kept}
        </Button>
      }
    >
      <p>{t.issuedLead(issued.label || t.keyId(issued.id), issued.role)}</p>
      <Notice kind="attention">{t.shownOnce}</Notice>
      <Code text={issued.key ?? ""} what={t.apiKey} />
    </Dialog>
  );
}

function Form({ project, onClose, onIssued }: Props & { onIssued: (key: IssuedKey) => void }) {
  const roles = useRoles(project);
  const all = useProjects();
  const me = useMe(project);
  const [draft, setDraft] = useState({ role: "", label: "", days: "365" as Days, limit: "some" });
  const [projects, setProjects] = useState([project]);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const rejection = error instanceof RequestError ? error : null;
  // A key that is limited to projects can issue only keys that are also limited.
  const isLimited = me.data?.projects != null;
  const isSome = isLimited || draft.limit === "some";
  const issue = async () => {
    setRunning(true);
    try {
      const days = Number(draft.days);
      const key = await bodyOf(
        POST("/v1/api-keys", {
          params: { header: inProject(project) },
          body: {
            role: draft.role,
            label: draft.label.trim(),
            projects: isSome ? projects : null,
            expires_at: days === 0 ? null : new Date(Date.now() + days * DAY).toISOString(),
          },
        }),
      );
      readAdministrationAgain();
      onIssued(key);
    } catch (error) {
      setError(error);
      setRunning(false);
    }
  };
  const toggle = (slug: string, isChosen: boolean) =>
    setProjects(isChosen ? [...projects, slug] : projects.filter((it) => it !== slug));
  return (
    <Dialog
      title={t.issueKey}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button
            kind="main"
            onPress={issue}
            isDisabled={isRunning || draft.role === "" || (isSome && projects.length === 0)}
          >
            {t.issue}
          </Button>
        </>
      }
    >
      <TextField
        label={t.label}
        hint={t.labelHint}
        value={draft.label}
        onChange={(label) => setDraft({ ...draft, label })}
        error={rejection?.at("/label")}
        maxLength={200}
        autoFocus
      />
      <Select
        label={t.role}
        isRequired
        choices={(roles.data ?? []).map(({ name, admin }) => ({
          id: name,
          label: name,
          ...(admin && { hint: t.administers }),
        }))}
        value={draft.role || null}
        onChange={(role) => setDraft({ ...draft, role })}
        placeholder={t.chooseRole}
        error={rejection?.at("/role")}
      />
      {!isLimited && (
        <Choices
          label={t.limit}
          choices={[
            { id: "some", label: t.limits.some },
            { id: "all", label: t.limits.all },
          ]}
          value={draft.limit}
          onChange={(limit) => setDraft({ ...draft, limit })}
        />
      )}
      {isSome && (
        <div className={style.indent}>
          {all.data?.map(({ slug, name }) => (
            <Checkbox
              key={slug}
              isSelected={projects.includes(slug)}
              onChange={(isChosen) => toggle(slug, isChosen)}
            >
              <bdi>{name}</bdi>
            </Checkbox>
          ))}
          {projects.length === 0 && <Rejection>{t.noProjectChosen}</Rejection>}
        </div>
      )}
      <Select
        label={t.expiry}
        choices={DAYS.map((id) => ({ id, label: t.expiries[id] }))}
        value={draft.days}
        onChange={(days) => setDraft({ ...draft, days })}
        error={rejection?.at("/expires_at")}
      />
      <RequiredNote />
      <OtherFailure error={error} fields={["/label", "/role", "/expires_at"]} />
    </Dialog>
  );
}
