import { ListFilter, Plus, X } from "lucide-react";
import {
  type ComponentProps,
  lazy,
  type Ref,
  Suspense,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from "react";
import { Dialog, Popover, Tag, Button as TagButton, TagGroup, TagList } from "react-aria-components";
import { useWhenQuiet } from "../api/idle";
import { Button } from "../components/Button";
import { Rejection } from "../components/Field";
import { Skeleton } from "../components/Notice";
import { words } from "../language";
import { useShortcuts } from "../navigation/shortcuts";
import { Chip } from "./Chip";
import type { Condition } from "./condition";
import style from "./FilterBar.module.css";
import { sentence } from "./sentence";
import { useSentences } from "./useContext";

const t = words.filter;

let loaded: typeof import("./ConditionEditor").ConditionEditor | null = null;
const loadEditor = async () => {
  loaded = (await import("./ConditionEditor")).ConditionEditor;
  return { default: loaded };
};
const LaterEditor = lazy(loadEditor);

/**
 * What is loaded is shown at once, so that no key is lost. An editor that was opened before stays the one that it is: another
 * component in its place would begin again with the choice of the attribute.
 */
function Editor(props: ComponentProps<typeof LaterEditor>) {
  const [Chosen] = useState(() => loaded ?? LaterEditor);
  return <Chosen {...props} />;
}

/** What a page may ask of the bar. */
export type FilterBarHandle = { add: () => void };

type Props = {
  project: string;
  /** null stands for a whole project, whose conditions know only the standard fields. */
  template: string | null;
  /** All of them hold. */
  value: readonly Condition[];
  onChange: (value: Condition[]) => void;
  /** The error of the condition at an index, from `faultsOfFilters`. */
  errors?: readonly (string | undefined)[] | undefined;
  isDisabled?: boolean;
  /** Whether the records are deleted ones. */
  areDeleted?: boolean;
  /** The key that adds a condition, such as "f". */
  shortcut?: string;
  ref?: Ref<FilterBarHandle>;
};

/** When a popover that closes may have given focus back, or lost it. */
const LEAVING = [50, 150, 400];

/** Conditions as chips, each a sentence. A press on a chip, or Enter, changes it; Backspace removes it. */
export function FilterBar({ project, template, value, onChange, errors, isDisabled, ...props }: Props) {
  const { shortcut, ref } = props;
  const context = useSentences(project, template, value, props.areDeleted);
  // The index of the condition in the editor; the number of conditions for a new one.
  const [open, setOpen] = useState<number | null>(null);
  const bar = useRef<HTMLDivElement>(null);
  const adder = useRef<HTMLSpanElement>(null);
  const anchor = useRef<Element>(null);
  const pending = useRef<(() => Condition | null) | null>(null);
  const isEscaped = useRef(false);

  const show = (index: number) => {
    if (isDisabled) return;
    const chip = bar.current?.querySelector(`[data-condition="${index}"]`)?.closest("[role=row]");
    anchor.current = chip ?? adder.current;
    pending.current = null;
    isEscaped.current = false;
    setOpen(index);
  };
  const put = (condition: Condition) => {
    const next = [...value];
    next[open ?? next.length] = condition;
    onChange(next);
  };
  const removeAt = (removed: (index: number) => boolean) => onChange(value.filter((_, at) => !removed(at)));
  const close = () => {
    // A press outside takes what is whole; Escape gives back.
    const condition = isEscaped.current ? null : pending.current?.();
    if (condition) put(condition);
    leave();
  };
  const leave = () => {
    setOpen(null);
    // Where focus came from may be gone, such as a chip that was removed.
    for (const delay of LEAVING) setTimeout(keepFocus, delay);
  };
  const keepFocus = () => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    const place = anchor.current?.isConnected ? anchor.current : adder.current;
    const target = place?.matches("[role=row]") ? place : place?.querySelector("button");
    if (isLost && target instanceof HTMLElement) target.focus();
  };

  // Keys that are pressed after `f` are for the editor.
  useWhenQuiet(loadEditor);
  const add = useRef(() => {});
  useEffect(() => {
    add.current = () => show(value.length);
  });
  useImperativeHandle(ref, () => ({ add: () => add.current() }), []);
  useShortcuts(
    useMemo(
      () =>
        shortcut ? [{ keys: shortcut, label: t.shortcut, icon: ListFilter, run: () => add.current() }] : [],
      [shortcut],
    ),
    "list",
  );

  const chips = value.map((condition, at) => ({ id: at, condition, text: sentence(condition, context) }));
  return (
    <div ref={bar} className={style.bar}>
      {chips.length > 0 && (
        <TagGroup
          aria-label={t.label}
          className={style.group ?? ""}
          {...(isDisabled ? {} : { onRemove: (keys: Set<unknown>) => removeAt((at) => keys.has(at)) })}
        >
          <TagList items={chips} dependencies={[context, errors, isDisabled]} className={style.chips ?? ""}>
            {({ id, condition, text }) => (
              <Tag
                id={id}
                textValue={text}
                className={`${style.chip} ${errors?.[id] === undefined ? "" : style.rejected}`}
                onAction={() => show(id)}
              >
                <span className={style.text} data-condition={id} title={text}>
                  <Chip condition={condition} context={context} />
                </span>
                {!isDisabled && (
                  <TagButton
                    slot="remove"
                    excludeFromTabOrder
                    className={style.remove ?? ""}
                    aria-label={t.remove(text)}
                  >
                    <X size={14} aria-hidden />
                  </TagButton>
                )}
              </Tag>
            )}
          </TagList>
        </TagGroup>
      )}
      {!isDisabled && (
        <span ref={adder}>
          <Button
            kind="quiet"
            icon={chips.length === 0 ? ListFilter : Plus}
            onPress={() => show(value.length)}
            aria-label={t.addLong}
          >
            {t.add}
          </Button>
        </span>
      )}
      {isDisabled && chips.length === 0 && <span className={style.none}>{t.none}</span>}
      {!isDisabled && chips.length > 1 && (
        <Button kind="quiet" onPress={() => onChange([])} aria-label={t.clearLong}>
          {t.clear}
        </Button>
      )}
      {errors?.map(
        (error, at) =>
          error !== undefined &&
          chips[at] && (
            <div key={at} className={style.error}>
              <Rejection>{t.rejected(chips[at].text, error)}</Rejection>
            </div>
          ),
      )}
      <Popover
        triggerRef={anchor}
        isOpen={open !== null}
        onOpenChange={(isOpen) => !isOpen && close()}
        placement="bottom start"
        className={style.popover ?? ""}
      >
        <Dialog aria-label={open === value.length ? t.addLong : t.editLong} className={style.dialog ?? ""}>
          {open !== null && (
            <div
              onKeyDownCapture={({ key, target, currentTarget }) => {
                // Menus of the form are elsewhere in the page: what closes them does not leave the form.
                isEscaped.current = key === "Escape" && currentTarget.contains(target as Node);
                if (isEscaped.current) leave();
              }}
            >
              <Suspense fallback={<Skeleton lines={4} />}>
                <Editor
                  key={open}
                  project={project}
                  context={context}
                  condition={value[open] ?? null}
                  pending={pending}
                  onDone={(condition) => {
                    put(condition);
                    setOpen(null);
                  }}
                  onRemove={
                    open < value.length
                      ? () => {
                          removeAt((at) => at === open);
                          setOpen(null);
                        }
                      : undefined
                  }
                />
              </Suspense>
            </div>
          )}
        </Dialog>
      </Popover>
    </div>
  );
}
