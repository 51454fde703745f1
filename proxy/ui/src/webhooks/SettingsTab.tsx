import { useState } from "react";
import { useLocation } from "wouter";
import { bodyOf, DELETE, inProject } from "../api/client";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { Section } from "../components/Page";
import { showToast } from "../components/toast";
import { exactTime } from "../format/moment";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { alter, type Change } from "./alter";
import { changesOf, draftOf, isComplete } from "./draft";
import { EndpointFields } from "./EndpointFields";
import { type Endpoint, readAgain } from "./queries";
import { SecretDialog } from "./SecretDialog";
import style from "./Webhooks.module.css";

const t = pageMessages.webhooks;

type Props = { project: string; endpoint: Endpoint };

/** The definition and secret of an endpoint, and its removal. */
export function SettingsTab({ project, endpoint }: Props) {
  const [question, setQuestion] = useState<"rotate" | "remove" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [, navigate] = useLocation();
  const rotate = async () => {
    const changed = await alter(project, endpoint, { rotate_secret: true });
    setSecret(changed.secret ?? null);
    await readAgain();
  };
  const remove = async () => {
    const params = { path: { endpoint: endpoint.id }, header: inProject(project) };
    await bodyOf(DELETE("/v1/webhook-endpoints/{endpoint}", { params }));
    navigate(addresses.webhooks(project));
    showToast(t.removed(endpoint.slug));
    await readAgain(endpoint.slug, endpoint.id);
  };
  const until = endpoint.previous_secret_until;
  return (
    <div className={style.form}>
      <Definition key={endpoint.updated_at} project={project} endpoint={endpoint} />
      <Section title={t.secret} lead={until ? t.previousUntil(exactTime(until)) : t.secretKept}>
        <div className={style.bar}>
          <Button onPress={() => setQuestion("rotate")}>{t.rotate}</Button>
        </div>
      </Section>
      <Section title={t.remove} lead={t.removeLead}>
        <div className={style.bar}>
          <Button kind="danger" onPress={() => setQuestion("remove")}>
            {t.remove}
          </Button>
        </div>
      </Section>
      {question === "rotate" && (
        <Confirm
          title={t.rotateTitle}
          action={t.rotate}
          isDanger={false}
          run={rotate}
          onClose={() => setQuestion(null)}
        >
          {t.rotateWhat}
        </Confirm>
      )}
      {question === "remove" && (
        <Confirm
          title={t.removeTitle(endpoint.slug)}
          action={t.remove}
          run={remove}
          onClose={() => setQuestion(null)}
        >
          {t.removeWhat}
        </Confirm>
      )}
      {secret !== null && <SecretDialog title={t.rotated} secret={secret} onClose={() => setSecret(null)} />}
    </div>
  );
}

function Definition({ project, endpoint }: Props) {
  const saved = draftOf(endpoint);
  const [draft, setDraft] = useState(saved);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [, navigate] = useLocation();
  const changes = changesOf(draft, saved);
  const isChanged = Object.keys(changes).length > 0;
  const save = async () => {
    setBusy(true);
    try {
      const { slug } = await alter(project, endpoint, changes as Change);
      const isRenamed = slug !== endpoint.slug;
      if (isRenamed) navigate(addresses.webhook(project, slug, "settings"), { replace: true });
      await readAgain(...(isRenamed ? [endpoint.slug] : []));
      showToast(t.settingsSaved);
    } catch (error) {
      setError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section title={t.settings}>
      <div className={style.fields}>
        <EndpointFields project={project} draft={draft} onChange={setDraft} error={error} />
        <div className={style.bar}>
          {isChanged && <span className={style.hint}>{t.unsaved}</span>}
          {isChanged && <Button onPress={() => setDraft(saved)}>{t.undo}</Button>}
          <Button kind="main" onPress={save} isPending={isBusy} isDisabled={!isChanged || !isComplete(draft)}>
            {t.saveSettings}
          </Button>
        </div>
      </div>
    </Section>
  );
}
