import { Image, Square, SquareCheck } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import type { Attribute } from "../api/queries";
import { Tag } from "../components/Tag";
import { datetimeText } from "../format/date";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import {
  exactValueText,
  isEmptyValue,
  linkOf,
  listLabels,
  referenceLabel,
  type VerboseValue,
  valueText,
} from "./text";
import style from "./Value.module.css";

const t = messages.value;
/** About fifteen lines in a record next to its list. */
const MAX_LETTERS = 1_000;

/** Whether a value is too long to be shown in full. */
export const isLong = (value: unknown): value is string =>
  typeof value === "string" && value.length > MAX_LETTERS;

type Props = {
  project: string;
  attribute: Pick<Attribute, "type" | "options" | "template" | "format">;
  value: unknown;
  /** The member of `attribute_values`: the display of a reference's target, or the time of a metric. */
  verbose?: VerboseValue | undefined;
  /** `line` truncates to one line; `whole` shows everything. */
  fit?: "line" | "whole";
  /** Show only the beginning of a long text. */
  isFolded?: boolean;
};

/** A read-only value by its type. */
export const Value = memo(function Value({
  project,
  attribute,
  value,
  verbose,
  fit = "line",
  isFolded = false,
}: Props) {
  const shape = fit === "line" ? style.line : style.whole;
  if (isEmptyValue(value)) return <EmptyValue />;
  const text = valueText(attribute, value, verbose);
  switch (attribute.type) {
    case "number":
      return (
        <span className={`${shape} ${style.number}`} title={exactValueText(value)}>
          {text}
        </span>
      );
    case "metric":
      return (
        <span
          className={`${shape} ${style.number}`}
          title={verbose?.at ? t.measured(datetimeText(verbose.at)) : exactValueText(value)}
        >
          {text}
        </span>
      );
    case "date":
    case "datetime":
      return (
        <time className={`${shape} ${style.date}`} dateTime={String(value)} title={exactValueText(value)}>
          {text}
        </time>
      );
    case "boolean":
      return (
        <span className={value === true ? style.yes : style.no}>
          {value === true ? <SquareCheck size={16} aria-hidden /> : <Square size={16} aria-hidden />}
          <span className="visually-hidden">{text}</span>
        </span>
      );
    case "list":
      return (
        <span className={`${shape} ${style.tags}`} title={fit === "line" ? text : undefined}>
          {listLabels(attribute, value).map((label, index) => (
            <Tag key={index}>{label}</Tag>
          ))}
        </span>
      );
    case "reference": {
      const target = verbose?.template_slug ?? attribute.template;
      const name = referenceLabel(verbose);
      if (name === null || !target || typeof value !== "string") {
        return (
          <span className={`${shape} ${style.hidden}`} title={name === null ? t.hiddenHint : text}>
            {name ?? t.hidden}
          </span>
        );
      }
      return (
        <Link href={addresses.record(project, target, value)} className={`${shape} ${style.link}`}>
          <bdi>{name}</bdi>
        </Link>
      );
    }
    default: {
      const address = typeof value === "string" ? linkOf(attribute, value) : null;
      if (address !== null) {
        return (
          <a className={`${shape} ${style.link}`} href={address} target="_blank" rel="noopener noreferrer">
            {attribute.format?.kind === "image" && <Image size={14} className={style.picture} aria-hidden />}
            <bdi>{text}</bdi>
          </a>
        );
      }
      // Text in a column is aligned to the same side, whatever the direction of its script.
      return fit === "line" ? (
        <span className={shape}>
          <bdi>{text}</bdi>
        </span>
      ) : (
        <span className={shape} dir="auto">
          {isFolded ? `${text.slice(0, MAX_LETTERS)}…` : text}
        </span>
      );
    }
  }
});

/** The placeholder for an empty value. */
export function EmptyValue() {
  return (
    <span className={style.nothing}>
      <span aria-hidden>–</span>
      <span className="visually-hidden">{t.empty}</span>
    </span>
  );
}
