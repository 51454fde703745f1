/** What every editor of a value takes. */
import type { Json } from "../api/json";
import type { Attribute } from "../api/queries";
import { textOf } from "./exact";

/** The part of an attribute that decides how its values are edited. */
export type EditedAttribute = Pick<
  Attribute,
  "slug" | "type" | "label" | "required" | "options" | "template" | "format"
>;

export type EditorProps = {
  project: string;
  attribute: EditedAttribute;
  /** The template that has the attribute, whose records have values to suggest. */
  owner?: string;
  /** undefined: not given; null: given as no value. A text that is not yet a number stays a text. */
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  /** The name of the attribute, unless another is given. */
  label?: string;
  /** The label is read aloud and not shown. */
  isLabelHidden?: boolean;
  error?: string | undefined;
  autoFocus?: boolean;
  /** Whether the form asks for a value: a default stands for one that is required. */
  isRequired?: boolean;
};

/** An editor in which the label is decided. */
export type PartProps = EditorProps & { label: string };

/** A field that adds elements to a list. */
export type ElementFieldProps = {
  label: string;
  onAdd: (elements: string[]) => void;
  onRemoveLast: () => void;
  autoFocus: boolean;
  isRequired: boolean;
};

/** The elements of a list. */
export const elementsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.map(textOf) : value == null ? [] : [textOf(value)];

/** A list with more elements, each of them once. */
export const withElements = (value: Json | undefined, more: readonly string[]): string[] => [
  ...new Set([...elementsOf(value), ...more]),
];
