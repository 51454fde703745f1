import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { bodyOf, inProject, POST } from "../api/client";
import { RequestError } from "../api/problem";
import { Button } from "../components/Button";
import { Choices } from "../components/Choices";
import { TextField } from "../components/Field";
import { Page } from "../components/Page";
import { RequiredNote } from "../components/Required";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { isComplete, membersOf, NEW } from "./draft";
import { EndpointFields } from "./EndpointFields";
import { type Endpoint, readAgain } from "./queries";
import { SecretDialog } from "./SecretDialog";
import style from "./Webhooks.module.css";

const t = pageMessages.webhooks;

/** Creates an endpoint, and shows its secret once. */
export function NewEndpoint({ project }: { project: string }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(NEW);
  const [from, setFrom] = useState<"now" | "start">("now");
  const [secret, setSecret] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [created, setCreated] = useState<Endpoint | null>(null);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || !isComplete(draft)) return;
    setBusy(true);
    try {
      const { role, ...members } = membersOf(draft);
      const own = secret.trim();
      const body = { ...members, from, ...(role && { role }), ...(own !== "" && { secret: own }) };
      setCreated(
        await bodyOf(POST("/v1/webhook-endpoints", { params: { header: inProject(project) }, body })),
      );
      setError(undefined);
      void readAgain();
    } catch (error) {
      setError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page title={t.createTitle} lead={t.createLead}>
      <form className={style.form} onSubmit={create}>
        <EndpointFields project={project} draft={draft} onChange={setDraft} error={error} isNew />
        <Choices
          label={t.from}
          choices={[
            { id: "now", label: t.fromChoices.now },
            { id: "start", label: t.fromChoices.start },
          ]}
          value={from}
          onChange={setFrom}
        />
        <TextField
          label={t.ownSecret}
          hint={t.ownSecretHint}
          value={secret}
          onChange={setSecret}
          error={error instanceof RequestError ? error.at("/secret") : undefined}
          isCode
        />
        <RequiredNote />
        <div className={style.bar}>
          <Button onPress={() => navigate(addresses.webhooks(project))}>{messages.components.cancel}</Button>
          <Button kind="main" type="submit" isPending={isBusy} isDisabled={!isComplete(draft)}>
            {t.create}
          </Button>
        </div>
      </form>
      {created && (
        <SecretDialog
          title={t.ready(created.slug)}
          secret={created.secret ?? ""}
          onClose={() => navigate(addresses.webhook(project, created.slug))}
        />
      )}
    </Page>
  );
}
