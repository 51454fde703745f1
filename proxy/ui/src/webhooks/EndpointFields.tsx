import { RequestError } from "../api/problem";
import { useTemplates } from "../api/queries";
import { Checkbox } from "../components/Checkbox";
import { Choices } from "../components/Choices";
import { Rejection, TextField } from "../components/Field";
import { OtherFailure } from "../components/Notice";
import { errorsOfFilters } from "../filter/errors";
import { FilterBar } from "../filter/FilterBar";
import { RoleField } from "../inbound/RoleField";
import { pageMessages } from "../language/pages";
import { type Draft, mayFilter, OPERATIONS } from "./draft";
import style from "./Webhooks.module.css";

const t = pageMessages.webhooks;

type Props = {
  project: string;
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** The error of the definition, from the service. */
  error: unknown;
  isNew?: boolean;
};

/** The definition of an endpoint: its URL, and the changes that it delivers. */
export function EndpointFields({ project, draft, onChange, error, isNew = false }: Props) {
  const templates = useTemplates(project);
  const rejection = error instanceof RequestError ? error : null;
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change });
  const [template = null] = mayFilter(draft) ? (draft.templates ?? []) : [];
  return (
    <>
      <TextField
        label={t.name}
        isRequired
        hint={t.nameHint}
        value={draft.slug}
        onChange={(slug) => set({ slug })}
        error={rejection?.at("/slug")}
        isCode
        autoFocus={isNew}
      />
      <TextField
        label={t.url}
        isRequired
        hint={t.urlHint}
        type="url"
        value={draft.url}
        onChange={(url) => set({ url })}
        error={rejection?.at("/url")}
        isCode
      />
      <Several
        label={t.templates}
        words={t.templateChoices}
        options={(templates.data ?? []).map(({ slug, label }) => ({ id: slug, label: label ?? slug }))}
        value={draft.templates}
        onChange={(templates) => set({ templates, ...(templates?.length !== 1 && { conditions: null }) })}
        error={errorBelow(rejection, "/templates")}
      />
      <Several
        label={t.operations}
        words={t.operationChoices}
        options={OPERATIONS.map((id) => ({
          id,
          label: t.operation[id],
          ...(id === "gone" && { hint: t.goneHint }),
        }))}
        value={draft.operations}
        onChange={(operations) => set({ operations })}
        error={errorBelow(rejection, "/operations")}
      />
      <div className={style.choice}>
        {template === null ? (
          <>
            <span className={style.label}>{t.filter}</span>
            <p className={style.hint}>{t.filterNeeds}</p>
          </>
        ) : (
          <>
            <Choices
              label={t.filter}
              choices={[
                { id: "all", label: t.filterChoices.all },
                { id: "some", label: t.filterChoices.some },
              ]}
              value={draft.conditions === null ? "all" : "some"}
              onChange={(extent) => set({ conditions: extent === "all" ? null : [] })}
            />
            {draft.conditions !== null && (
              <div className={style.indent}>
                <FilterBar
                  key={template}
                  project={project}
                  template={template}
                  value={draft.conditions}
                  onChange={(conditions) => set({ conditions })}
                  errors={errorsOfFilters(error)}
                />
                {draft.conditions.length === 0 && <p className={style.hint}>{t.noConditionYet}</p>}
              </div>
            )}
          </>
        )}
        {rejection?.at("/filter") && <Rejection>{rejection.at("/filter")}</Rejection>}
      </div>
      <RoleField
        project={project}
        label={t.role}
        hint={t.roleHint}
        own={t.ownRole}
        value={draft.role}
        onChange={(role) => set({ role })}
        error={rejection?.at("/role")}
      />
      <div className={style.choice}>
        <Checkbox isSelected={draft.includeRecord} onChange={(includeRecord) => set({ includeRecord })}>
          {t.includeRecord}
        </Checkbox>
        <span className={style.below}>{t.includeRecordHint}</span>
      </div>
      <OtherFailure
        error={error}
        fields={[
          "/slug",
          "/url",
          "/templates",
          "/templates/",
          "/operations",
          "/operations/",
          "/filter",
          "/filter/filters/",
          "/role",
          "/secret",
        ]}
      />
    </>
  );
}

/** The error of a list or of one of its elements. */
function errorBelow(rejection: RequestError | null, path: string): string | undefined {
  const errors = rejection?.problem?.errors ?? [];
  return errors.find(({ pointer = "" }) => pointer === path || pointer.startsWith(`${path}/`))?.detail;
}

type SeveralProps<K extends string> = {
  label: string;
  words: { all: string; some: string };
  options: readonly { id: K; label: string; hint?: string }[];
  /** Null for all. */
  value: K[] | null;
  onChange: (value: K[] | null) => void;
  error: string | undefined;
};

/** All, or some of them. */
function Several<K extends string>({ label, words, options, value, onChange, error }: SeveralProps<K>) {
  return (
    <div className={style.choice}>
      <Choices
        label={label}
        choices={[
          { id: "all", label: words.all },
          { id: "some", label: words.some },
        ]}
        value={value === null ? "all" : "some"}
        onChange={(extent) => onChange(extent === "all" ? null : [])}
      />
      {value !== null && (
        <div className={style.indent} role="group" aria-label={label}>
          {options.map(({ id, label, hint }) => (
            <div key={id}>
              <Checkbox
                isSelected={value.includes(id)}
                onChange={(isChosen) =>
                  onChange(isChosen ? [...value, id] : value.filter((other) => other !== id))
                }
              >
                <bdi>{label}</bdi>
              </Checkbox>
              {hint && <span className={style.below}>{hint}</span>}
            </div>
          ))}
          {value.length === 0 && <p className={style.hint}>{t.noneChosen}</p>}
        </div>
      )}
      {error !== undefined && <Rejection>{error}</Rejection>}
    </div>
  );
}
