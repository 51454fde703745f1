/**
 * Every word that the application shows, by language. A language is an object of the type `Words`; sentences with
 * numbers or names in them are functions.
 */
import { access } from "./en/access";
import { components } from "./en/components";
import { files } from "./en/files";
import { filter } from "./en/filter";
import { frame } from "./en/frame";
import { inbound } from "./en/inbound";
import { list } from "./en/list";
import { operations } from "./en/operations";
import { record } from "./en/record";
import { reference } from "./en/reference";
import { template } from "./en/template";
import { value } from "./en/value";

const english = {
  access,
  components,
  files,
  filter,
  frame,
  inbound,
  list,
  operations,
  record,
  reference,
  template,
  value,
};

export type Words = typeof english;

export const words: Words = english;
