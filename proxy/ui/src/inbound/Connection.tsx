import { useState } from "react";
import { useLocation } from "wouter";
import { bodyOf, DELETE, inProject, PATCH, type Schemas } from "../api/client";
import { RequestError } from "../api/problem";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { TextField } from "../components/Field";
import { OtherFailure } from "../components/Notice";
import { Section } from "../components/Page";
import { showToast } from "../components/toast";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { Credentials } from "./Credentials";
import type { Endpoint } from "./draft";
import style from "./Mapping.module.css";
import { readAgain } from "./queries";
import { SenderFields } from "./SenderFields";
import { useUnsaved } from "./unsaved";

const t = pageMessages.inbound;

type Change = Schemas["EndpointChange"];
type Question = "token" | "secret" | "remove";

/** The address, signature and settings of an endpoint, and its removal. */
export function Connection({ project, endpoint }: { project: string; endpoint: Endpoint }) {
  const [question, setQuestion] = useState<Question | null>(null);
  const [fresh, setFresh] = useState<Endpoint | null>(null);
  const [, navigate] = useLocation();
  const { sample } = useUnsaved(endpoint.id);
  const path = { params: { path: { endpoint: endpoint.id }, header: inProject(project) } };
  const change = async (body: Change) => {
    const changed = await bodyOf(PATCH("/v1/inbound-endpoints/{endpoint}", { ...path, body }));
    if (changed.token !== undefined || changed.secret !== undefined) setFresh(changed);
    if (changed.slug !== endpoint.slug)
      navigate(addresses.endpoint(project, changed.slug, "connection"), { replace: true });
    await readAgain();
  };
  const remove = async () => {
    await bodyOf(DELETE("/v1/inbound-endpoints/{endpoint}", path));
    navigate(addresses.inbound(project));
    showToast(t.removed(endpoint.slug));
    await readAgain();
  };
  const close = () => setQuestion(null);
  return (
    <div className={style.form}>
      <Section title={t.address} lead={t.addressKept}>
        <div className={style.bar}>
          <Button onPress={() => setQuestion("token")}>{t.newAddress}</Button>
        </div>
      </Section>
      {endpoint.signed && (
        <Section title={t.secretTitle} lead={t.secretKept}>
          <div className={style.bar}>
            <Button onPress={() => setQuestion("secret")}>{t.newSecret}</Button>
          </div>
        </Section>
      )}
      <Settings key={endpoint.updated_at} project={project} endpoint={endpoint} change={change} />
      <Section title={t.remove} lead={t.removeLead}>
        <div className={style.bar}>
          <Button kind="danger" onPress={() => setQuestion("remove")}>
            {t.remove}
          </Button>
        </div>
      </Section>
      {question === "token" && (
        <Confirm
          title={t.newAddressTitle}
          action={t.newAddress}
          run={() => change({ rotate_token: true })}
          onClose={close}
        >
          {t.newAddressWhat}
        </Confirm>
      )}
      {question === "secret" && (
        <Confirm
          title={t.newSecretTitle}
          action={t.newSecret}
          run={() => change({ rotate_secret: true })}
          onClose={close}
        >
          {t.newSecretWhat}
        </Confirm>
      )}
      {question === "remove" && (
        <Confirm title={t.removeTitle(endpoint.slug)} action={t.remove} run={remove} onClose={close}>
          {t.removeWhat}
        </Confirm>
      )}
      {fresh && (
        <Credentials
          title={fresh.token === undefined ? t.rotatedSecret : t.rotatedToken}
          token={fresh.token ?? null}
          secret={fresh.secret ?? null}
          isSigned={fresh.signed ?? true}
          sample={sample.trim() === "" ? "{}" : sample}
          onClose={() => setFresh(null)}
        />
      )}
    </div>
  );
}

type SettingsProps = { project: string; endpoint: Endpoint; change: (change: Change) => Promise<void> };

function Settings({ project, endpoint, change }: SettingsProps) {
  const saved = { slug: endpoint.slug, role: endpoint.role ?? "", signed: endpoint.signed ?? true };
  const [draft, setDraft] = useState(saved);
  const [error, setError] = useState<unknown>();
  const rejection = error instanceof RequestError ? error : null;
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const save = async () => {
    try {
      await change({
        ...(draft.slug !== saved.slug && { slug: draft.slug }),
        ...(draft.role !== saved.role && { role: draft.role === "" ? null : draft.role }),
        ...(draft.signed !== saved.signed && { signed: draft.signed }),
      });
      showToast(t.settingsSaved);
    } catch (error) {
      setError(error);
    }
  };
  return (
    <Section title={t.settings}>
      <div className={style.fields}>
        <TextField
          label={t.name}
          hint={t.nameHint}
          value={draft.slug}
          onChange={(slug) => setDraft({ ...draft, slug })}
          error={rejection?.at("/slug")}
          isCode
        />
        <SenderFields
          project={project}
          sender={draft}
          onChange={(change) => setDraft({ ...draft, ...change })}
          rejection={rejection}
        />
        <OtherFailure error={error} fields={["/slug", "/role"]} />
        <div className={style.bar}>
          <Button onPress={save} isDisabled={!isChanged}>
            {t.saveSettings}
          </Button>
        </div>
      </div>
    </Section>
  );
}
