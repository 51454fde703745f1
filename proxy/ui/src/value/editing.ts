/** The common props of value editors. */
import type { Json } from "../api/json";
import type { Attribute } from "../api/queries";
import { textOf } from "./exact";

/** The properties of an attribute that determine its editor. */
export type EditedAttribute = Pick<
  Attribute,
  "slug" | "type" | "label" | "required" | "options" | "template" | "format"
>;

export type EditorProps = {
  project: string;
  attribute: EditedAttribute;
  /** The template of the attribute, whose records provide suggestions. */
  owner?: string;
  /** undefined: not set; null: set to no value. Text that is not a number yet stays text. */
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  /** Defaults to the name of the attribute. */
  label?: string;
  /** The label is for screen readers only. */
  isLabelHidden?: boolean;
  error?: string | undefined;
  autoFocus?: boolean;
  /** Whether the form requires a value. A required attribute with a default does not. */
  isRequired?: boolean;
};

/** The props of an editor with its final label. */
export type PartProps = EditorProps & { label: string };

/** A field that adds elements to a list. */
export type ElementFieldProps = {
  label: string;
  onAdd: (elements: string[]) => void;
  onRemoveLast: () => void;
  autoFocus: boolean;
  isRequired: boolean;
};

/** The elements of a list value. */
export const elementsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.map(textOf) : value == null ? [] : [textOf(value)];

/** The list with more elements, without duplicates. */
export const withElements = (value: Json | undefined, more: readonly string[]): string[] => [
  ...new Set([...elementsOf(value), ...more]),
];
