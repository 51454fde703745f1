import { Plus } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { RequestError } from "../api/problem";
import { type Template, useTemplates } from "../api/queries";
import { AdministratorsOnly } from "../components/AdministratorsOnly";
import { Button } from "../components/Button";
import { TextField } from "../components/Field";
import { Failure, Skeleton } from "../components/Notice";
import { Page, Section } from "../components/Page";
import { RequiredNote } from "../components/Required";
import { Select } from "../components/Select";
import { showToast } from "../components/toast";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { type Draft, EMPTY, errorsOf, newAttribute, rejections } from "./draft";
import { languageChoices } from "./languages";
import { NewAttributeRow } from "./NewAttributeRow";
import { slugError, slugOf } from "./slug";
import style from "./template.module.css";
import { createTemplate } from "./useDefinition";

const t = pageMessages.template;
const KEY = "";

/** Creates a template with its first attributes. */
export default function NewTemplatePage({ project }: { project: string }) {
  const templates = useTemplates(project);
  return (
    <AdministratorsOnly project={project} title={t.newTitle} alsoDefiners>
      <Page title={t.newTitle} lead={t.newLead}>
        {templates.isError ? (
          <Failure error={templates.error} retry={() => templates.refetch()} />
        ) : templates.data ? (
          <Form project={project} templates={templates.data} />
        ) : (
          <Skeleton lines={6} />
        )}
      </Page>
    </AdministratorsOnly>
  );
}

/** A row of the form. Its id is stable when rows are added and removed. */
type Row = { id: number; draft: Draft };

const FIRST: Row[] = [{ id: 0, draft: { ...EMPTY, label: "Name", slug: "name", required: true } }];

function Form({ project, templates }: { project: string; templates: Template[] }) {
  const [, navigate] = useLocation();
  const [label, setLabel] = useState("");
  const [slug, setSlug] = useState("");
  const [language, setLanguage] = useState("english");
  const [display, setDisplay] = useState<string | undefined>(undefined);
  const [rows, setRows] = useState(FIRST);
  const [rejected, setRejected] = useState<unknown>(undefined);
  const [isSaving, setSaving] = useState(false);
  const drafts = rows.map(({ draft }) => draft);
  const slugs = drafts.map((it) => it.slug);
  const written = rows.map(({ draft }, at) => errorsOf(draft, slugs.toSpliced(at, 1)));
  const problem = rejected instanceof RequestError ? rejected : undefined;
  const reported = rows.map((_, at) => (problem ? rejections(problem, `/attributes/${at}`, null) : {}));
  const isTaken = templates.some((it) => it.slug === slug);
  const templateSlugError = isTaken ? t.slugTakenTemplate(slug) : slugError(slug);
  const isReported =
    [...reported].some((it) => Object.keys(it).length > 0) || problem?.at("/slug") !== undefined;
  const isReady =
    !isSaving && templateSlugError === undefined && written.every((it) => Object.keys(it).length === 0);
  const edit = (next: Row[]) => {
    setRows(next);
    setRejected(undefined);
  };
  const create = async () => {
    setSaving(true);
    try {
      const shown = display === undefined || display === KEY || slugs.includes(display) ? display : undefined;
      await createTemplate(project, {
        slug,
        ...(label !== "" && { label }),
        language,
        ...(shown !== undefined && { display: shown === KEY ? null : shown }),
        attributes: drafts.map(newAttribute),
      });
      showToast(t.created(label || slug));
      navigate(addresses.template(project, slug));
    } catch (error) {
      setRejected(error);
      setSaving(false);
    }
  };
  return (
    <>
      <Section title={t.settings}>
        <div className={style.form}>
          <div className={style.pair}>
            <TextField
              label={t.templateLabel}
              hint={t.templateLabelHint}
              value={label}
              onChange={(next) => {
                if (slug === slugOf(label)) setSlug(slugOf(next));
                setLabel(next);
                setRejected(undefined);
              }}
              error={problem?.at("/label")}
              autoFocus
            />
            <TextField
              label={t.slug}
              isRequired
              hint={t.templateSlugHint}
              value={slug}
              onChange={(next) => {
                setSlug(next);
                setRejected(undefined);
              }}
              error={slug === "" && label === "" ? undefined : (templateSlugError ?? problem?.at("/slug"))}
              isCode
            />
          </div>
          <div className={style.pair}>
            <Select
              label={t.language}
              choices={languageChoices(language)}
              value={language}
              onChange={setLanguage}
              error={problem?.at("/language")}
            />
            <Select
              label={t.display}
              choices={[
                { id: KEY, label: t.displayNone },
                ...drafts.filter((it) => it.slug).map((it) => ({ id: it.slug, label: it.label || it.slug })),
              ]}
              value={display !== undefined && slugs.includes(display) ? display : firstText(drafts, display)}
              onChange={setDisplay}
              error={problem?.at("/display")}
            />
          </div>
          <RequiredNote />
        </div>
      </Section>
      <Section title={t.attributes} lead={t.attributesNewLead}>
        <div className={style.rows}>
          <div className={style.heads} aria-hidden>
            {[t.label, t.slug, t.type].map((head) => (
              <span key={head}>{head}</span>
            ))}
          </div>
          {rows.map(({ id, draft }, at) => (
            <NewAttributeRow
              key={id}
              {...{ project, templates, draft }}
              position={at + 1}
              errors={{ ...reported[at], ...(draft.slug === "" && draft.label === "" ? {} : written[at]) }}
              setDraft={(next) => edit(rows.with(at, { id, draft: next }))}
              remove={() => edit(rows.toSpliced(at, 1))}
              moveUp={at === 0 ? null : () => edit(exchanged(rows, at - 1))}
              moveDown={at === rows.length - 1 ? null : () => edit(exchanged(rows, at))}
            />
          ))}
        </div>
        <div>
          <Button
            icon={Plus}
            onPress={() =>
              edit([...rows, { id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, draft: EMPTY }])
            }
          >
            {t.addAttribute}
          </Button>
        </div>
      </Section>
      {rejected !== undefined && !isReported && <Failure error={rejected} />}
      <div className={style.buttons}>
        <Button kind="main" onPress={create} isDisabled={!isReady}>
          {t.create}
        </Button>
        <p className={style.note}>{t.createHint}</p>
      </div>
    </>
  );
}

/** The rows with one swapped with the next. */
const exchanged = (rows: Row[], at: number): Row[] =>
  rows.toSpliced(at, 2, ...rows.slice(at, at + 2).toReversed());

/** Unless the user chooses, the first text attribute is the title of a record. */
const firstText = (drafts: Draft[], chosen: string | undefined) =>
  chosen === KEY ? KEY : (drafts.find(({ type }) => type === "string")?.slug ?? KEY);
