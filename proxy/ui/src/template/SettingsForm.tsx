import { Fragment, useState } from "react";
import { RequestError } from "../api/problem";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Rejection, TextField } from "../components/Field";
import { Failure } from "../components/Notice";
import { Section } from "../components/Page";
import { Select } from "../components/Select";
import { showToast } from "../components/toast";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { collationChoices } from "./collations";
import { Effects } from "./Effects";
import { changeOfSettings, effectsOfSettings, type Settings, settingsOf, withDryRun } from "./effects";
import { languageChoices } from "./languages";
import { SynonymsField, synonymsError } from "./SynonymsField";
import { isInLines } from "./synonyms";
import style from "./template.module.css";
import { changeTemplate } from "./useDefinition";
import { useDryRun } from "./useDryRun";

const t = pageMessages.template;
const KEY = "";

/** A read-only view of display, language, collation, embedded attributes and synonyms of a template. */
export function SettingsFacts({ template }: { template: Template }) {
  const label = (slug: string) =>
    attributeLabel(template.attributes.find((it) => it.slug === slug) ?? { slug, label: null });
  const { display, language, collation, embed, synonyms } = settingsOf(template);
  const facts = [
    [t.display, display === null ? t.displayNone : label(display)],
    [t.language, t.languageName(language)],
    ...(collation === null ? [] : [[t.collation, t.collationName(collation)] as const]),
    [t.embed, embed.length === 0 ? t.embedNone : embed.map(label).join(", ")],
    [t.synonyms, synonyms === "" ? t.synonymsNone : synonyms.split("\n").join("; ")],
  ] as const;
  return (
    <Section title={t.settings}>
      <dl className={style.facts}>
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </Fragment>
        ))}
      </dl>
    </Section>
  );
}

type Props = { project: string; template: Template; records: number | null };

/** Edits label, display, language, collation, embedded attributes and synonyms of a template. */
export function SettingsForm({ project, template, records }: Props) {
  const [edited, setEdited] = useState<Partial<Settings>>({});
  const [rejected, setRejected] = useState<unknown>(undefined);
  const [isSaving, setSaving] = useState(false);
  const before = settingsOf(template);
  const settings = { ...before, ...edited };
  const change = changeOfSettings(before, settings);
  const { plan, rejection, isAsking } = useDryRun(project, template.slug, change);
  const effects = withDryRun(effectsOfSettings(template, settings, { records, plan }), { plan, rejection });
  const set = (more: Partial<Settings>) => {
    setEdited({ ...edited, ...more });
    setRejected(undefined);
  };
  const save = async () => {
    setSaving(true);
    try {
      if (change !== null) await changeTemplate(project, template.slug, change);
      showToast(t.saved(settings.label || template.slug));
      setEdited({});
    } catch (error) {
      setRejected(error);
    } finally {
      setSaving(false);
    }
  };
  const error = rejected ?? rejection;
  const at = (pointer: string) => (error instanceof RequestError ? error.at(pointer) : undefined);
  const embedError =
    error instanceof RequestError
      ? error.problem?.errors?.find(({ pointer }) => pointer.startsWith("/embed"))?.detail
      : undefined;
  const texts = template.attributes.filter(({ type }) => ["string", "dimension", "list"].includes(type));
  const isShownAtField =
    ["/label", "/display", "/language", "/collation"].some((it) => at(it)) ||
    (embedError ?? synonymsError(settings.synonyms, error)) !== undefined;
  return (
    <Section title={t.settings}>
      <div className={style.form}>
        <div className={style.pair}>
          <TextField
            label={t.templateLabel}
            value={settings.label}
            onChange={(label) => set({ label })}
            error={at("/label")}
          />
          <Select
            label={t.display}
            choices={[
              { id: KEY, label: t.displayNone },
              ...template.attributes.map((it) => ({ id: it.slug, label: attributeLabel(it) })),
            ]}
            value={settings.display ?? KEY}
            onChange={(slug) => set({ display: slug === KEY ? null : slug })}
            error={at("/display")}
          />
        </div>
        <p className={style.note}>{t.displayHint}</p>
        <div className={style.pair}>
          <Select
            label={t.language}
            choices={languageChoices(settings.language)}
            value={settings.language}
            onChange={(language) => set({ language })}
            error={at("/language")}
          />
          {settings.collation !== null && (
            <Select
              label={t.collation}
              choices={collationChoices(settings.collation)}
              value={settings.collation}
              onChange={(collation) => set({ collation })}
              error={at("/collation")}
            />
          )}
        </div>
        <p className={style.note}>
          {t.languageHint} {settings.collation !== null && t.collationHint}
        </p>
        <fieldset className={style.group}>
          <legend>{t.embed}</legend>
          <p className={style.note}>{texts.length === 0 ? t.embedNothing : t.embedHint}</p>
          <div className={style.ticks}>
            {texts.map((it) => (
              <Checkbox
                key={it.slug}
                isSelected={settings.embed.includes(it.slug)}
                onChange={(isOn) =>
                  set({
                    embed: isOn
                      ? [...settings.embed, it.slug]
                      : settings.embed.filter((slug) => slug !== it.slug),
                  })
                }
              >
                <span dir="auto">{attributeLabel(it)}</span>
              </Checkbox>
            ))}
          </div>
          {embedError && <Rejection>{embedError}</Rejection>}
        </fieldset>
        <SynonymsField
          lines={settings.synonyms}
          setLines={(synonyms) => set({ synonyms })}
          isInLines={isInLines(template.synonyms ?? [])}
          error={error}
        />
        {effects.length > 0 && (
          <>
            <Effects effects={effects} isAsking={isAsking} />
            {rejected !== undefined && !isShownAtField && <Failure error={rejected} />}
            <div className={style.buttons}>
              <Button kind="main" onPress={save} isDisabled={isSaving || isAsking || rejection !== undefined}>
                {t.save}
              </Button>
              <Button onPress={() => setEdited({})}>{t.reset}</Button>
            </div>
          </>
        )}
      </div>
    </Section>
  );
}
