import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { RequestError, sentence } from "../api/problem";
import { Button } from "./Button";
import style from "./Notice.module.css";

const ICONS = { rejection: CircleAlert, attention: TriangleAlert, done: CircleCheck, plain: Info };

type Props = { kind?: keyof typeof ICONS; actions?: ReactNode; children: ReactNode };

/** A message within the page. */
export function Notice({ kind = "plain", actions, children }: Props) {
  const Icon = ICONS[kind];
  return (
    <div className={`${style.notice} ${style[kind]}`} role={kind === "rejection" ? "alert" : "status"}>
      <Icon size={16} aria-hidden />
      <div className={style.text}>{children}</div>
      {actions}
    </div>
  );
}

/** A load error with a button to retry. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const kind = error instanceof RequestError && error.isOffline ? "attention" : "rejection";
  return (
    <Notice kind={kind} actions={retry && <Button onPress={retry}>Try again</Button>}>
      {sentence(error)}
    </Notice>
  );
}

/** The errors, except those shown at the fields: `/slug`, or all below `/mapping/`. */
export function OtherFailure({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (error === undefined || error === null) return null;
  const errors = (error instanceof RequestError && error.problem?.errors) || [];
  const isAtField = (pointer: string) =>
    fields.some((field) => (field.endsWith("/") ? pointer.startsWith(field) : pointer === field));
  if (errors.length > 0 && errors.every(({ pointer }) => isAtField(pointer ?? ""))) return null;
  return <Failure error={error} />;
}

/** Grey placeholder bars for loading content. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className={style.skeleton} aria-busy="true" role="status">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={style.bar} />
      ))}
    </div>
  );
}
