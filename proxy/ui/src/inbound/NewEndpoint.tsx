import { Table2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { bodyOf, inProject, POST } from "../api/client";
import { RequestError } from "../api/problem";
import { useMe, useTemplates } from "../api/queries";
import { Button } from "../components/Button";
import { Empty } from "../components/Empty";
import { TextField } from "../components/Field";
import { Failure, Notice, OtherFailure, Skeleton } from "../components/Notice";
import { Page } from "../components/Page";
import { RequiredNote } from "../components/Required";
import { Select } from "../components/Select";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { Credentials } from "./Credentials";
import type { Endpoint } from "./draft";
import style from "./Mapping.module.css";
import { readAgain } from "./queries";
import { SampleField } from "./SampleField";
import { SenderFields } from "./SenderFields";
import { matchColumns } from "./sample";
import { readSample } from "./trial";
import { keep } from "./unsaved";

const t = pageMessages.inbound;

/** Creates an endpoint. The next page edits its mapping with the sample. */
export function NewEndpoint({ project }: { project: string }) {
  const templates = useTemplates(project);
  const me = useMe(project);
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState({ slug: "", template: "", role: "", signed: true, secret: "" });
  const [sample, setSampleText] = useState("");
  const [created, setCreated] = useState<Endpoint | null>(null);
  const [error, setError] = useState<unknown>();
  const rejection = error instanceof RequestError ? error : null;
  const definable = (templates.data ?? []).filter(
    ({ slug }) =>
      me.data?.admin ||
      me.data?.templates.some(
        (it) => it.template === `${project}.${slug}` && it.privileges.includes("define"),
      ),
  );
  const template = definable.find(({ slug }) => slug === draft.template);
  const proposal = useMemo(() => {
    const { payload } = readSample(sample);
    return payload === undefined ? null : matchColumns(payload, template?.attributes ?? []);
  }, [sample, template]);
  const create = async () => {
    try {
      const { slug, role, signed, secret } = draft;
      const endpoint = await bodyOf(
        POST("/v1/inbound-endpoints", {
          params: { header: inProject(project) },
          body: {
            slug: slug.trim(),
            template: draft.template,
            signed,
            ...(role !== "" && { role }),
            ...(signed && secret.trim() !== "" && { secret: secret.trim() }),
            ...(proposal ?? { external_key: "$.id" }),
          },
        }),
      );
      if (sample.trim() !== "") keep(endpoint.id, { sample });
      setCreated(endpoint);
      setError(undefined);
      readAgain();
    } catch (error) {
      setError(error);
    }
  };
  if (templates.isError) return <Failure error={templates.error} retry={() => templates.refetch()} />;
  if (!templates.data || !me.data) return <Skeleton lines={6} />;
  if (definable.length === 0) {
    return (
      <Empty
        icon={Table2}
        title={messages.frame.noTemplates}
        action={<Link href={addresses.newTemplate(project)}>{messages.frame.newTemplate}</Link>}
      >
        {messages.frame.noTemplatesHint}
      </Empty>
    );
  }
  const mapped = Object.keys(proposal?.mapping ?? {}).length;
  return (
    <Page title={t.createTitle} lead={t.createLead}>
      <form
        className={style.form}
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <TextField
          label={t.name}
          isRequired
          hint={t.nameHint}
          value={draft.slug}
          onChange={(slug) => setDraft({ ...draft, slug })}
          error={rejection?.at("/slug")}
          isCode
          autoFocus
        />
        <Select
          label={t.template}
          isRequired
          choices={definable.map(({ slug, label }) => ({ id: slug, label: label ?? slug }))}
          value={draft.template || null}
          onChange={(template) => setDraft({ ...draft, template })}
          placeholder={t.templateHint}
          error={rejection?.at("/template")}
        />
        <SampleField value={sample} onChange={setSampleText} hint={t.sampleForNew} rows={7} />
        {proposal && template && <Notice>{mapped === 0 ? t.proposedNone : t.proposed(mapped)}</Notice>}
        <SenderFields
          project={project}
          sender={draft}
          onChange={(change) => setDraft({ ...draft, ...change })}
          rejection={rejection}
        />
        {draft.signed && (
          <TextField
            label={t.secret}
            hint={t.secretHint}
            value={draft.secret}
            onChange={(secret) => setDraft({ ...draft, secret })}
            error={rejection?.at("/secret")}
            isCode
          />
        )}
        <RequiredNote />
        <OtherFailure error={error} fields={["/slug", "/template", "/role", "/secret"]} />
        <div className={style.bar}>
          <Button kind="main" type="submit" isDisabled={draft.slug.trim() === "" || template === undefined}>
            {t.create}
          </Button>
        </div>
      </form>
      {created && (
        <Credentials
          title={t.ready(created.slug)}
          token={created.token ?? null}
          secret={created.secret ?? null}
          isSigned={created.signed ?? true}
          sample={sample.trim() === "" ? "{}" : sample}
          onClose={() => navigate(addresses.endpoint(project, created.slug, "mapping"))}
        />
      )}
    </Page>
  );
}
