import type { Attribute, Template } from "../api/queries";
import { Button } from "../components/Button";
import { TextField } from "../components/Field";
import { Notice } from "../components/Notice";
import { Section } from "../components/Page";
import { Select } from "../components/Select";
import { Tag } from "../components/Tag";
import { attributeLabel } from "../format/label";
import { pageMessages } from "../language/pages";
import { type CellFormat, membersOf, openChoices, type Proposal, reads } from "./cellFormat";
import { type Fit, fitOf, isStandard, KEY, type Matching, problemsOf, type Target } from "./columns";
import { FormatSection } from "./FormatSection";
import style from "./files.module.css";
import { MatchBy } from "./MatchBy";
import type { Reading } from "./reading";

const t = pageMessages.files;
const LEFT_OUT = "";
const SAMPLES = 3;

type Props = {
  project: string;
  template: Template;
  reading: Reading;
  targets: Target[];
  setTargets: (targets: Target[]) => void;
  matching: Matching;
  setMatching: (matching: Matching) => void;
  prefix: string;
  setPrefix: (prefix: string) => void;
  /** Null while the service detects the cell format. */
  proposal: Proposal | null;
  format: CellFormat;
  setFormat: (format: CellFormat) => void;
  back: () => void;
  next: () => void;
};

/** The mapping of columns to attributes, with the number of valid cells per column. */
export function ColumnsStep(props: Props) {
  const { template, reading, targets, setTargets, prefix, setPrefix, back, next } = props;
  const { project, matching, setMatching, proposal, format, setFormat } = props;
  const isCsv = reading.format === "csv";
  const problems = problemsOf(template, targets);
  const twice = problems.filter((it) => it.kind === "twice");
  const missing = problems.flatMap((it) => (it.kind === "missing" ? attributeLabel(it.attribute) : []));
  const isOpen = proposal !== null && openChoices(proposal, format).length > 0;
  const unknown = isCsv ? [] : reading.header.filter((name) => name !== KEY && !known(template, name));
  return (
    <>
      <Section
        title={isCsv ? t.columnsTitle : t.attributesTitle}
        lead={isCsv ? t.columnsLead(reading.rows.length) : t.ndjsonLead}
      >
        <div role="group" className={style.table} aria-label={t.columnsTitle}>
          <table className={style.columns}>
            <thead>
              <tr>
                {[isCsv ? t.column : t.member, t.samples, t.attribute, t.fit].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {reading.header.map((name, at) => (
                <ColumnRow
                  key={at}
                  {...{ project, template, reading, at, name, format, matching, setMatching }}
                  target={targets[at] ?? null}
                  setTarget={(target) => setTargets(targets.with(at, target))}
                />
              ))}
            </tbody>
          </table>
        </div>
        {isCsv && <p className={style.quiet}>{t.emptyCells}</p>}
      </Section>
      {isCsv && targets.includes(KEY) && (
        <div className={style.narrowField}>
          <TextField
            label={t.keyPrefix}
            hint={t.keyPrefixHint}
            value={prefix}
            onChange={setPrefix}
            placeholder="erp:"
            isCode
          />
        </div>
      )}
      {isCsv && <FormatSection {...{ template, targets, proposal, format, setFormat }} />}
      {twice.map(({ target }) => (
        <Notice key={target} kind="rejection">
          {t.twice(nameOf(template, target))}
        </Notice>
      ))}
      {unknown.length > 0 && <Notice kind="attention">{t.ndjsonUnknown(unknown.join(", "))}</Notice>}
      {missing.length > 0 && (
        <Notice kind="attention">{t.missing(missing.join(", "), missing.length)}</Notice>
      )}
      {!targets.includes(KEY) && <Notice kind="attention">{t.noKey}</Notice>}
      {isOpen && <Notice kind="attention">{t.chooseFirst}</Notice>}
      <div className={style.foot}>
        <Button onPress={back}>{t.back}</Button>
        <Button kind="main" onPress={next} isDisabled={twice.length > 0 || proposal === null || isOpen}>
          {t.try}
        </Button>
      </div>
    </>
  );
}

const known = (template: Template, slug: string) => template.attributes.find((it) => it.slug === slug);

function nameOf(template: Template, target: string): string {
  const attribute = known(template, target);
  return attribute ? attributeLabel(attribute) : t.externalKey;
}

type RowProps = {
  project: string;
  template: Template;
  reading: Reading;
  format: CellFormat;
  at: number;
  name: string;
  target: Target;
  setTarget: (target: Target) => void;
  matching: Matching;
  setMatching: (matching: Matching) => void;
};

function ColumnRow({ template, reading, format, at, name, target, setTarget, ...matched }: RowProps) {
  const samples = reading.rows.map(({ cells }) => cells[at] ?? "").filter((cell) => cell !== "");
  const attribute = target === null ? undefined : known(template, target);
  const type = attribute?.type;
  const isService = isStandard(name) && target === null;
  const choices = [
    { id: LEFT_OUT, label: isService ? t.standard : t.leaveOut },
    { id: KEY, label: t.externalKey },
    ...template.attributes.map((it) => ({
      id: it.slug,
      label: attributeLabel(it),
      hint: `${it.slug} · ${pageMessages.template.types[it.type]}`,
    })),
  ];
  return (
    <tr>
      <td className={style.name} dir="auto">
        {name}
      </td>
      <td>
        {samples.slice(0, SAMPLES).map((sample, index) => (
          <span key={index} className={style.sample} dir="auto" title={sample}>
            {sample}
          </span>
        ))}
      </td>
      <td className={style.choice}>
        {reading.format === "csv" ? (
          <Select
            label={t.attributeOf(name)}
            isLabelHidden
            choices={choices}
            value={target ?? LEFT_OUT}
            onChange={(id) => setTarget(id === LEFT_OUT ? null : id)}
          />
        ) : (
          (target && nameOf(template, target)) || "–"
        )}
        {type === "reference" && <MatchBy {...matched} attribute={attribute} />}
      </td>
      <td>
        {target !== null && reading.format === "ndjson" ? (
          <Tag>{t.checkedLater}</Tag>
        ) : type !== undefined && reads(format, type) ? (
          <>
            <Tag>{t.checkedLater}</Tag>
            <p className={style.why} dir="auto">
              {t.formatName(membersOf(format, type))}
            </p>
          </>
        ) : target !== null ? (
          <FitCell
            fit={fitOf(template, target, reading, at)}
            attribute={known(template, target)}
            rows={reading.rows.length}
          />
        ) : (
          isService && <p className={style.why}>{name === "id" ? t.standardId : t.standardOther}</p>
        )}
      </td>
    </tr>
  );
}

function FitCell({ fit, attribute, rows }: { fit: Fit; attribute: Attribute | undefined; rows: number }) {
  const empties = fit.empty > 0 && fit.empty < rows && (
    <span className={style.why}> {t.empties(fit.empty)}</span>
  );
  if (fit.rejected > 0)
    return (
      <>
        <Tag kind="bad">{t.notAllFit(fit.rejected, rows)}</Tag>
        {empties}
        <p className={style.why} dir="auto">
          {why(fit, attribute)}
        </p>
      </>
    );
  if (fit.empty === rows) return <Tag>{t.allEmpty}</Tag>;
  if (fit.unknown > 0) return <Tag>{t.checkedLater}</Tag>;
  return (
    <>
      <Tag kind="good">{t.allFit(fit.fits)}</Tag>
      {empties}
    </>
  );
}

/** Why a cell is not valid, and the expected form. */
function why({ example }: Fit, attribute: Attribute | undefined): string {
  if (!attribute && !example?.trim()) return t.keyEmpty;
  if (example === "" || example === null) return t.requiredEmpty;
  const shown = example.length > 40 ? `${example.slice(0, 40)}…` : example;
  if (!attribute) return t.example(shown, t.expected.key);
  const options = attribute.type === "list" ? attribute.options?.map(({ value }) => value) : undefined;
  return t.example(
    shown,
    options ? t.optionsAre(options.slice(0, 12).join(", ")) : t.expected[attribute.type],
  );
}
