import type { Template } from "../api/queries";
import { Checkbox } from "../components/Checkbox";
import { Rejection, TextField } from "../components/Field";
import { RequiredNote } from "../components/Required";
import { Select } from "../components/Select";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { ValueEditor } from "../value/ValueEditor";
import { type AttributeType, type Draft, type FieldErrors, hasIndex, type Option, TYPES } from "./draft";
import { FormatEditor } from "./FormatEditor";
import { OptionsEditor } from "./OptionsEditor";
import { slugOf } from "./slug";
import style from "./template.module.css";

const t = pageMessages.template;

type Props = {
  project: string;
  templates: Template[];
  draft: Draft;
  setDraft: (draft: Draft) => void;
  /** The type of an existing attribute cannot be changed. */
  isNew: boolean;
  errors: FieldErrors;
};

/** All settings of an attribute. */
export function AttributeForm({ project, templates, draft, setDraft, isNew, errors }: Props) {
  const set = (more: Partial<Draft>) => setDraft({ ...draft, ...more });
  // The slug follows the label until the user edits it.
  const follows = isNew && draft.slug === slugOf(draft.label);
  return (
    <>
      <div className={style.pair}>
        <TextField
          label={t.label}
          hint={t.labelHint}
          value={draft.label}
          onChange={(label) => set(follows ? { label, slug: slugOf(label) } : { label })}
          error={errors.label}
          autoFocus={isNew}
        />
        <TextField
          label={t.slug}
          isRequired
          hint={t.slugHint}
          value={draft.slug}
          onChange={(slug) => set({ slug })}
          error={errors.slug}
          isCode
        />
      </div>
      <div className={style.pair}>
        {isNew ? (
          <Select<AttributeType>
            label={t.type}
            choices={TYPES.map((id) => ({ id, label: t.types[id], hint: t.typeHints[id] }))}
            value={draft.type}
            onChange={(type) => set({ type, default: null, format: null })}
            error={errors.type}
          />
        ) : (
          <div className={style.box}>
            <strong>{t.types[draft.type]}</strong>
            <span className={style.quiet}>{t.typeStays}</span>
          </div>
        )}
        {draft.type === "reference" && (
          <Select
            label={t.target}
            isRequired
            choices={templates.map((it) => ({ id: it.slug, label: attributeLabel(it) }))}
            value={draft.target}
            onChange={(target) => set({ target })}
            placeholder={t.targetHint}
            isDisabled={!isNew}
            error={errors.target || undefined}
          />
        )}
      </div>
      {draft.type === "list" && (
        <OptionsEditor
          options={draft.options}
          setOptions={(options) => set({ options })}
          error={errors.options}
        />
      )}
      <FormatEditor
        type={draft.type}
        format={draft.format ?? {}}
        setFormat={(format) => set({ format })}
        error={errors.format}
      />
      <div className={style.boxes}>
        <div className={style.box}>
          <Checkbox isSelected={draft.required} onChange={(required) => set({ required })}>
            {t.required}
          </Checkbox>
          <p>{t.requiredHint}</p>
          {errors.required && <Rejection>{errors.required}</Rejection>}
        </div>
        <div className={style.box}>
          <Checkbox
            isSelected={draft.indexed || !hasIndex(draft.type)}
            isDisabled={!hasIndex(draft.type)}
            onChange={(indexed) => set({ indexed })}
          >
            {t.indexed}
          </Checkbox>
          <p>{hasIndex(draft.type) ? t.indexedHint : t.referenceIndexed}</p>
        </div>
      </div>
      {draft.type !== "metric" && !(draft.type === "reference" && draft.target === null) && (
        <div className={style.box}>
          <ValueEditor
            key={`${draft.type} ${draft.target}`}
            project={project}
            attribute={{
              slug: draft.slug,
              type: draft.type,
              label: t.default,
              required: false,
              options: distinct(draft.options),
              ...(draft.target !== null && { template: draft.target }),
            }}
            value={draft.default}
            onChange={(value) => set({ default: value ?? null })}
            error={errors.default}
          />
          <span className={style.quiet}>{t.defaultHint}</span>
        </div>
      )}
      <RequiredNote />
    </>
  );
}

/** The complete options. One that is being edited may be empty or a duplicate. */
function distinct(options: Option[] | null): Option[] | null {
  const byValue = new Map(options?.map((it) => [it.value, it]));
  byValue.delete("");
  return options && [...byValue.values()];
}
