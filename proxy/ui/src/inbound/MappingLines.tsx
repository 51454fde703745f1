import { ChevronLeft, ChevronRight, ChevronsRight } from "lucide-react";
import type { ReactNode } from "react";
import type { Json } from "../api/json";
import type { RequestError } from "../api/problem";
import type { Attribute } from "../api/queries";
import { IconButton } from "../components/Button";
import { TextField } from "../components/Field";
import { RequiredMark, RequiredNote } from "../components/Required";
import { pageMessages } from "../language/pages";
import { type Draft, NO_SOURCE, type Source } from "./draft";
import style from "./Mapping.module.css";
import { PathField } from "./PathField";
import type { SamplePath } from "./sample";
import { type Item, rejectedItems, rejectionAt, shownValue, type Trial } from "./trial";

const t = pageMessages.inbound;

type Props = {
  attributes: readonly Attribute[];
  draft: Draft;
  onChange: (draft: Draft) => void;
  paths: readonly SamplePath[];
  trial: Trial | undefined;
  /** The result is of an earlier draft or sample. */
  isOld: boolean;
  /** The item whose values are shown. */
  item: number;
  onItem: (item: number) => void;
  /** The errors of the paths themselves. */
  rejection: RequestError | null;
};

/** One line per attribute: the path of its value, and the value found there. */
export function MappingLines({ attributes, draft, onChange, rejection, ...props }: Props) {
  const { trial, item, paths } = props;
  const shown = trial?.items[item];
  const set = (slug: string, source: Source) =>
    onChange({ ...draft, mapping: { ...draft.mapping, [slug]: source } });
  return (
    <section className={style.lines} aria-label={t.lines}>
      <div className={style.head}>
        <span>{t.attribute}</span>
        <span>{t.path}</span>
        <Stepper {...props} />
      </div>
      <div className={style.line}>
        <div className={style.attribute}>
          <span>
            {t.externalKey}
            <RequiredMark />
          </span>
        </div>
        <PathField
          label={t.key}
          isLabelHidden
          isRequired
          value={draft.external_key}
          onChange={(external_key) => onChange({ ...draft, external_key })}
          paths={paths}
          placeholder="$.id"
          error={rejection?.at("/external_key")}
        />
        <Result
          isOld={props.isOld}
          value={shown && (shown.external_key ?? undefined)}
          rejection={rejectionAt(trial?.error ?? null, item, "external_key")}
          isTried={trial !== undefined}
          isKey
        />
      </div>
      {attributes.map((attribute) => (
        <Line
          key={attribute.slug}
          attribute={attribute}
          source={draft.mapping[attribute.slug] ?? NO_SOURCE}
          onChange={(source) => set(attribute.slug, source)}
          paths={paths}
          error={rejection?.at(`/mapping/${attribute.slug}`)}
        >
          <Result
            isOld={props.isOld}
            value={mapped(shown, attribute.slug)}
            rejection={rejectionAt(trial?.error ?? null, item, `attributes/${attribute.slug}`)}
            isTried={shown !== undefined && (draft.mapping[attribute.slug]?.path ?? "") !== ""}
          />
        </Line>
      ))}
      <RequiredNote />
    </section>
  );
}

function mapped(item: Item | undefined, slug: string): Json | undefined {
  return item?.attributes && Object.hasOwn(item.attributes, slug) ? item.attributes[slug] : undefined;
}

type LineProps = {
  attribute: Attribute;
  source: Source;
  onChange: (source: Source) => void;
  paths: readonly SamplePath[];
  error: string | undefined;
  children: ReactNode;
};

function Line({ attribute, source, onChange, paths, error, children }: LineProps) {
  const label = attribute.label ?? attribute.slug;
  const isReference = attribute.type === "reference";
  return (
    <div className={style.line}>
      <div className={style.attribute} dir="auto">
        <span>
          {label}
          {attribute.required && <RequiredMark />}
        </span>
        <small>{attribute.type}</small>
      </div>
      <div className={`${style.sources} ${isReference ? style.twoSources : ""}`}>
        <PathField
          label={t.pathOf(label)}
          isLabelHidden
          isRequired={attribute.required}
          value={source.path}
          onChange={(path) => onChange({ ...source, path })}
          paths={paths}
          placeholder={t.notMapped}
          error={error}
        />
        {isReference && (
          <TextField
            label={t.prefixOf(label)}
            isLabelHidden
            placeholder={t.prefix}
            value={source.key_prefix}
            onChange={(key_prefix) => onChange({ ...source, key_prefix })}
            isCode
          />
        )}
      </div>
      {children}
    </div>
  );
}

type ResultProps = {
  value: Json | undefined;
  rejection: string | undefined;
  isTried: boolean;
  isOld: boolean;
  isKey?: boolean;
};

function Result({ value, rejection, isTried, isOld, isKey }: ResultProps) {
  if (!isTried) return <div className={style.result} />;
  return (
    <div className={`${style.result} ${isOld ? style.old : ""}`} dir="auto">
      {value === undefined && !isKey && rejection === undefined && (
        <span className={style.quiet}>{t.left}</span>
      )}
      {value === null && <span className={style.quiet}>{t.cleared}</span>}
      {value !== undefined &&
        value !== null &&
        (isKey ? <code>{shownValue(value)}</code> : shownValue(value))}
      {rejection !== undefined && <div className={style.rejected}>{rejection}</div>}
    </div>
  );
}

/** Buttons to step through the items of the sample. */
function Stepper({ trial, item, onItem }: Pick<Props, "trial" | "item" | "onItem">) {
  const items = trial?.items.length ?? 0;
  const rejected = rejectedItems(trial?.error ?? null);
  const next = rejected.find((it) => it > item) ?? rejected[0];
  return (
    <div className={style.stepper}>
      <span>{t.result}</span>
      {items > 1 && (
        <>
          <IconButton
            icon={ChevronLeft}
            label={t.previousItem}
            size="small"
            isDisabled={item === 0}
            onPress={() => onItem(item - 1)}
          />
          <span aria-live="polite">{t.resultOf(item + 1, items)}</span>
          <IconButton
            icon={ChevronRight}
            label={t.nextItem}
            size="small"
            isDisabled={item >= items - 1}
            onPress={() => onItem(item + 1)}
          />
          {next !== undefined && (
            <IconButton
              icon={ChevronsRight}
              label={t.nextRejected}
              size="small"
              onPress={() => onItem(next)}
            />
          )}
        </>
      )}
    </div>
  );
}
