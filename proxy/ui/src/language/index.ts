/**
 * The words that the application shows, by language; those of pages that are loaded when they are opened are in
 * `pages.ts`. A language is an object of the type `Words`; sentences with numbers or names in them are functions.
 */
import { components } from "./en/components";
import { filter } from "./en/filter";
import { frame } from "./en/frame";
import { list } from "./en/list";
import { record } from "./en/record";
import { value } from "./en/value";

const english = {
  components,
  filter,
  frame,
  list,
  record,
  value,
};

export type Messages = typeof english;

export const messages: Messages = english;
