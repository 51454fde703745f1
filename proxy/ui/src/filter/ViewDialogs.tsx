import { type FormEvent, useState } from "react";
import { RequestError, sentence } from "../api/problem";
import type { View } from "../api/queries";
import { Button } from "../components/Button";
import { Checkbox } from "../components/Checkbox";
import { Confirm } from "../components/Confirm";
import { CopyButton } from "../components/CopyButton";
import { Dialog } from "../components/Dialog";
import { Rejection, TextField } from "../components/Field";
import { RequiredNote } from "../components/Required";
import { showToast } from "../components/toast";
import { messages } from "../language";
import style from "./ViewMenu.module.css";
import { createView, deleteView, isSlug, type SavedSearch, saveView, slugFor, viewName } from "./view";

const t = messages.filter;

type DialogProps = { project: string; template: string; onClose: () => void };

/** Runs the action of a form and holds its error. */
function useSending() {
  const [state, setState] = useState<{ isSending: boolean; error: unknown }>({
    isSending: false,
    error: null,
  });
  const send = async (run: () => Promise<void>) => {
    setState({ isSending: true, error: null });
    try {
      await run();
    } catch (error) {
      setState({ isSending: false, error });
    }
  };
  return { ...state, send };
}

function Actions({
  action,
  isSending,
  onClose,
}: {
  action: string;
  isSending: boolean;
  onClose: () => void;
}) {
  return (
    <div className={style.foot}>
      <Button onPress={onClose}>{t.cancel}</Button>
      <Button kind="main" type="submit" isDisabled={isSending}>
        {action}
      </Button>
    </div>
  );
}

/** Whether the SQL view shows readable values. A full-text search has no SQL view. */
function Presentation({
  query,
  isPresented,
  onChange,
}: {
  query: SavedSearch;
  isPresented: boolean;
  onChange: (is: boolean) => void;
}) {
  if (query.global_search) return null;
  return (
    <div className={style.fact}>
      <Checkbox isSelected={isPresented} onChange={onChange}>
        {t.presentation}
      </Checkbox>
      <p className={style.hint}>{t.presentationHint}</p>
    </div>
  );
}

/** Saves a search with a name. */
export function NewViewDialog({
  project,
  template,
  query,
  onClose,
  onSaved,
}: DialogProps & { query: SavedSearch; onSaved: (view: View) => void }) {
  const [label, setLabel] = useState("");
  const [typedSlug, setSlug] = useState<string | null>(null);
  const [isChecked, setChecked] = useState(false);
  const [isPresented, setPresented] = useState(false);
  const { send, isSending, error } = useSending();
  const slug = typedSlug ?? slugFor(label);
  const isTaken = error instanceof RequestError && error.status === 409;
  const rejectedSlug = error instanceof RequestError ? error.at("/slug") : undefined;
  const errors = {
    label: isChecked && label.trim() === "" ? t.needName : undefined,
    slug:
      isChecked && label.trim() !== "" && !isSlug(slug)
        ? t.viewSlugForm
        : isTaken
          ? t.viewSlugTaken
          : rejectedSlug,
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (label.trim() === "" || !isSlug(slug)) return;
    send(async () => {
      const view = await createView(project, template, {
        slug,
        label: label.trim(),
        query,
        presentation: isPresented,
      });
      onSaved(view);
      onClose();
      showToast(t.viewSaved(viewName(view)));
    });
  };
  return (
    <Dialog title={t.saveAs} isOpen onClose={onClose}>
      <form className={style.form} onSubmit={save} noValidate>
        <TextField
          label={t.viewName}
          isRequired
          value={label}
          onChange={setLabel}
          error={errors.label}
          autoFocus
          maxLength={255}
        />
        <TextField
          label={t.viewSlug}
          isRequired
          value={slug}
          onChange={setSlug}
          error={errors.slug}
          hint={t.viewSlugHint}
          isCode
          maxLength={63}
        />
        <Presentation query={query} isPresented={isPresented} onChange={setPresented} />
        {error !== null && errors.slug === undefined && <Rejection>{sentence(error)}</Rejection>}
        <RequiredNote />
        <Actions action={t.saveView} isSending={isSending} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** Label and slug of a view. Only the label is shown at first. */
export function ViewDetailsDialog({
  project,
  template,
  view,
  mayRename,
  onClose,
}: DialogProps & { view: View; mayRename: boolean }) {
  const [label, setLabel] = useState(viewName(view));
  const [isPresented, setPresented] = useState(view.presentation === true);
  const { send, isSending, error } = useSending();
  const save = (event: FormEvent) => {
    event.preventDefault();
    send(async () => {
      const { slug, query } = view;
      const saved = await saveView(project, template, {
        slug,
        label: label.trim() || null,
        query,
        presentation: isPresented,
      });
      onClose();
      showToast(t.viewRenamed(viewName(saved)));
    });
  };
  return (
    <Dialog title={mayRename ? t.viewRename : viewName(view)} isOpen onClose={onClose}>
      <form className={style.form} onSubmit={save}>
        {mayRename && (
          <TextField label={t.viewName} value={label} onChange={setLabel} autoFocus maxLength={255} />
        )}
        <dl className={style.form}>
          <div className={style.fact}>
            <dt>{t.viewSlug}</dt>
            <dd>
              <code>{view.slug}</code>
              <CopyButton text={view.slug} what={t.theSlug} />
            </dd>
          </div>
          <div className={style.fact}>
            <dt>{t.sqlView}</dt>
            {view.sql_view === null ? (
              <dd className={style.hint}>{t.noSqlView}</dd>
            ) : (
              <>
                <dd>
                  <code>{view.sql_view}</code>
                  <CopyButton text={view.sql_view} what={t.theSqlView} />
                </dd>
                <dd className={style.hint}>{t.sqlViewHint}</dd>
              </>
            )}
          </div>
        </dl>
        {mayRename && <Presentation query={view.query} isPresented={isPresented} onChange={setPresented} />}
        {error !== null && <Rejection>{sentence(error)}</Rejection>}
        {mayRename ? (
          <Actions action={t.rename} isSending={isSending} onClose={onClose} />
        ) : (
          <p className={style.hint}>{t.cannotSave}</p>
        )}
      </form>
    </Dialog>
  );
}

/** Asks before deleting a view. */
export function DeleteViewDialog({
  project,
  template,
  view,
  onClose,
  onDeleted,
}: DialogProps & { view: View; onDeleted: () => void }) {
  const run = async () => {
    await deleteView(project, template, view.slug);
    onDeleted();
    showToast(t.viewDeleted(viewName(view)));
  };
  return (
    <Confirm title={t.deleteTitle(viewName(view))} action={t.deleteIt} run={run} onClose={onClose}>
      {t.deleteLead}
    </Confirm>
  );
}
