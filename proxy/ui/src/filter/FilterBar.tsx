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
import { messages } from "../language";
import { useShortcuts } from "../navigation/shortcuts";
import { Chip } from "./Chip";
import type { Condition } from "./condition";
import style from "./FilterBar.module.css";
import { sentence } from "./sentence";
import { useSentences } from "./useContext";

const t = messages.filter;

let loaded: typeof import("./ConditionEditor").ConditionEditor | null = null;
const loadEditor = async () => {
  loaded = (await import("./ConditionEditor")).ConditionEditor;
  return { default: loaded };
};
const LaterEditor = lazy(loadEditor);

/**
 * A loaded editor renders immediately, so that no keystroke is lost. An open editor is never replaced by another
 * component, because that one would start again with the choice of the attribute.
 */
function Editor(props: ComponentProps<typeof LaterEditor>) {
  const [Chosen] = useState(() => loaded ?? LaterEditor);
  return <Chosen {...props} />;
}

/** The functions that a page can call on the bar. */
export type FilterBarHandle = { add: () => void };

type Props = {
  project: string;
  /** Null for a whole project, whose conditions use only standard fields. */
  template: string | null;
  /** All of them must match. */
  value: readonly Condition[];
  onChange: (value: Condition[]) => void;
  /** The error of the condition at an index, from `errorsOfFilters`. */
  errors?: readonly (string | undefined)[] | undefined;
  isDisabled?: boolean;
  /** Whether the list shows deleted records. */
  areDeleted?: boolean;
  /** The shortcut that adds a condition, such as "f". */
  shortcut?: string;
  ref?: Ref<FilterBarHandle>;
};

/** Milliseconds until a closing popover has restored the focus, or lost it. */
const FOCUS_DELAYS = [50, 150, 400];

/** Conditions as chips, each a sentence. A click or Enter on a chip edits it; Backspace removes it. */
export function FilterBar({ project, template, value, onChange, errors, isDisabled, ...props }: Props) {
  const { shortcut, ref } = props;
  const context = useSentences(project, template, value, props.areDeleted);
  // The index of the edited condition; the number of conditions for a new one.
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
    // A click outside applies a complete condition. Escape cancels.
    const condition = isEscaped.current ? null : pending.current?.();
    if (condition) put(condition);
    endSession();
  };
  const endSession = () => {
    setOpen(null);
    // The previously focused element may be gone, such as a removed chip.
    for (const delay of FOCUS_DELAYS) setTimeout(keepFocus, delay);
  };
  const keepFocus = () => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    const origin = anchor.current?.isConnected ? anchor.current : adder.current;
    const target = origin?.matches("[role=row]") ? origin : origin?.querySelector("button");
    if (isLost && target instanceof HTMLElement) target.focus();
  };

  // Keystrokes after `f` are for the editor.
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
                // The form's menus are rendered elsewhere in the page. Closing one does not leave the form.
                isEscaped.current = key === "Escape" && currentTarget.contains(target as Node);
                if (isEscaped.current) endSession();
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
