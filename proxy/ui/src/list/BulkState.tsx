import { X } from "lucide-react";
import { sentence } from "../api/problem";
import { Button, IconButton } from "../components/Button";
import { Notice } from "../components/Notice";
import { messages } from "../language";
import style from "./SelectionBar.module.css";
import type { useBulk } from "./useBulk";

const t = messages.list;

/** The progress and outcome of a bulk change, with undo. */
export function BulkState({ task, result, stop, dismiss }: ReturnType<typeof useBulk>) {
  if (task) {
    const part = task.total === null || task.total === 0 ? 0 : Math.min(1, task.done / task.total);
    return (
      <div className={style.task} role="status">
        <span>
          {t.running[task.kind]}: {t.progress(task.done, task.total)}
        </span>
        <div
          className={style.meter}
          role="progressbar"
          aria-label={t.running[task.kind]}
          aria-valuemin={0}
          aria-valuemax={task.total ?? undefined}
          aria-valuenow={task.done}
        >
          <div className={style.fill} style={{ width: `${part * 100}%` }} />
        </div>
        <Button onPress={stop}>{t.stop}</Button>
      </div>
    );
  }
  if (!result) return null;
  const { outcome, kind, undo } = result;
  const rejections = outcome.rejected.length + outcome.moreRejected;
  const isSuccessful = rejections === 0 && !outcome.isStopped && outcome.error === undefined;
  return (
    <div className={style.result}>
      <Notice
        kind={isSuccessful ? "done" : "attention"}
        actions={
          <>
            {undo && <Button onPress={undo}>{kind === "delete" ? t.restore : t.undo}</Button>}
            <IconButton icon={X} label={messages.components.close} size="small" onPress={dismiss} />
          </>
        }
      >
        {t.done[kind](outcome.done.length)}
        {outcome.isStopped && ` · ${t.wasStopped}`}
        {outcome.error !== undefined && ` · ${sentence(outcome.error)}`}
        {rejections > 0 && (
          <div className={style.rejections}>
            {t.rejected[kind](rejections)}
            <ul>
              {outcome.rejected.slice(0, 5).map(({ id, name, reason }) => (
                <li key={id}>
                  <code dir="auto">{name}</code>
                  {reason}
                </li>
              ))}
            </ul>
            {rejections > 5 && t.rejectedMore(rejections - 5)}
          </div>
        )}
      </Notice>
    </div>
  );
}
