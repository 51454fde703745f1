import {
  ArrowDown,
  ArrowUp,
  Hash,
  Link2,
  Maximize2,
  Minimize2,
  MoreHorizontal,
  SearchX,
  Trash2,
  X,
} from "lucide-react";
import { type CSSProperties, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { RequestError } from "../api/problem";
import { privileges, type Template, useMe, useTemplate } from "../api/queries";
import { useOnScreen } from "../code/current";
import { Button, IconButton } from "../components/Button";
import { Empty } from "../components/Empty";
import { Menu } from "../components/Menu";
import { Failure, Skeleton } from "../components/Notice";
import { type TabItem, Tabs } from "../components/Tabs";
import { showToast } from "../components/toast";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import { useShortcuts } from "../navigation/shortcuts";
import { targetOf } from "../value/references";
import { Access } from "./Access";
import { ChangeBar } from "./ChangeBar";
import { Deleted, DeleteQuestion } from "./Deletion";
import { Details } from "./Details";
import { History } from "./History";
import { Metrics } from "./Metrics";
import style from "./RecordDrawer.module.css";
import { Related } from "./Related";
import { Resizer, useDrawerWidth } from "./Resizer";
import { type Step, StepButtons, type Steps } from "./StepButtons";
import { type Shown, useRecord } from "./store";
import { type Tab, useRecordView } from "./useRecordView";

const t = messages.record;

type Props = {
  project: string;
  template: string;
  id: string;
  onClose: () => void;
  /** Functions that open the previous and next record of the list; null if there is none. */
  steps: Steps;
};

/** A record next to its list, or over it on a narrow screen, with a separate address. */
export function RecordDrawer({ project, template, id, onClose, steps }: Props) {
  const { isFull, setFull, tab, setTab } = useRecordView();
  const shown = useRecord(project, id);
  const panel = useRef<HTMLElement>(null);
  const [width, resize] = useDrawerWidth();
  const definition = useTemplate(project, shown.data?.record.template_slug ?? template);
  useOnScreen(
    { method: "GET", path: `/v1/entities/${encodeURIComponent(id)}`, query: { verbose: true } },
    "record",
  );
  // Opening a record moves the focus to it. Closing it returns the focus to the list.
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const pressed = useRef<Step | null>(null);
  // Another record renders new buttons. The pressed one keeps the focus.
  const isGranted = shown.data !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per record, after it has loaded.
  useEffect(() => {
    if (document.activeElement !== document.body) return;
    const button = panel.current?.querySelector<HTMLElement>(`[data-step=${pressed.current}]:enabled`);
    (button ?? panel.current)?.focus();
    if (isGranted) pressed.current = null;
  }, [id, isGranted]);
  // Delete and Restore remove the pressed button, so the focus moves to the record.
  const deletedAt = shown.data?.record.deleted_at;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per deletion and restoration.
  useEffect(() => {
    if (document.activeElement === document.body) panel.current?.focus();
  }, [deletedAt]);
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || !panel.current?.contains(event.target as Node))
      return;
    event.stopPropagation();
    onClose();
  };
  useShortcuts(
    [
      ...(steps.next ? [{ keys: "j", label: t.next, icon: ArrowDown, run: steps.next }] : []),
      ...(steps.previous ? [{ keys: "k", label: t.previous, icon: ArrowUp, run: steps.previous }] : []),
    ],
    "record",
  );
  const isMissing = shown.error instanceof RequestError && shown.error.status === 404;
  return (
    <aside
      ref={panel}
      className={`${style.drawer} ${isFull ? style.full : ""}`}
      aria-label={t.record}
      data-place="record"
      tabIndex={-1}
      onKeyDown={press}
      style={{ "--drawer": `${width}px` } as CSSProperties}
    >
      {!isFull && <Resizer width={width} onResize={resize} />}
      {shown.data && definition && !isMissing ? (
        <Open
          key={id}
          project={project}
          template={definition}
          shown={shown.data}
          tab={tab}
          setTab={setTab}
          isFull={isFull}
          setFull={setFull}
          onClose={onClose}
          steps={<StepButtons steps={steps} pressed={pressed} />}
        />
      ) : (
        <div className={style.waiting}>
          <div className={style.tools}>
            <StepButtons steps={steps} pressed={pressed} />
            <IconButton icon={X} label={t.close} onPress={onClose} />
          </div>
          {isMissing ? (
            <Empty
              icon={SearchX}
              title={shown.data ? t.noLongerVisible : t.notFound}
              action={<Button onPress={onClose}>{t.backToList}</Button>}
            >
              {shown.data ? t.noLongerVisibleHint : t.notFoundHint}
            </Empty>
          ) : shown.isError ? (
            <Failure error={shown.error} retry={() => shown.refetch()} />
          ) : (
            <Skeleton lines={8} />
          )}
        </div>
      )}
    </aside>
  );
}

type OpenProps = {
  project: string;
  template: Template;
  shown: Shown;
  tab: Tab;
  setTab: (tab: Tab) => void;
  isFull: boolean;
  setFull: (isFull: boolean) => void;
  onClose: () => void;
  steps: ReactNode;
};

function Open({ project, template, shown, tab, setTab, isFull, setFull, onClose, steps }: OpenProps) {
  const { record } = shown;
  const me = useMe(project);
  const may = privileges(me.data, project, template.slug);
  const isDeleted = record.deleted_at != null;
  const mayEdit = may.has("update") && !isDeleted;
  const [isDeleting, setDeleting] = useState(false);
  const { name } = targetOf(record, template.display);
  const copy = async (text: string, message: string) => {
    await navigator.clipboard.writeText(text);
    showToast(message);
  };
  useEffect(() => {
    const before = document.title;
    document.title = `${name} · keyed`;
    return () => {
      document.title = before;
    };
  }, [name]);

  const items: TabItem[] = [
    {
      id: "details",
      label: t.tabs.details,
      content: (
        <Details
          project={project}
          template={template}
          shown={shown}
          mayEdit={mayEdit}
          isReader={me.data !== undefined && !may.has("update")}
        />
      ),
    },
    ...(template.attributes.some(({ type }) => type === "metric")
      ? [
          {
            id: "metrics",
            label: t.tabs.metrics,
            content: <Metrics project={project} template={template} record={record} mayEdit={mayEdit} />,
          },
        ]
      : []),
    {
      id: "history",
      label: t.tabs.history,
      content: <History project={project} template={template} record={record} mayEdit={mayEdit} />,
    },
    {
      id: "related",
      label: t.tabs.related,
      content: <Related project={project} template={template} record={record} />,
    },
    ...(me.data?.admin
      ? [
          {
            id: "access",
            label: t.tabs.access,
            content: <Access project={project} template={template} record={record} />,
          },
        ]
      : []),
  ];
  return (
    <>
      <header className={style.head}>
        <div className={style.names}>
          <span className={style.template}>{template.label ?? template.slug}</span>
          <h2 className={isDeleted ? style.gone : ""} dir="auto" title={name}>
            {name}
          </h2>
        </div>
        <div className={style.tools}>
          {steps}
          <Menu
            label={t.actions}
            actions={[
              {
                id: "address",
                label: t.copyAddress,
                icon: Link2,
                run: () =>
                  copy(
                    new URL(addresses.record(project, template.slug, record.id), location.href).href,
                    t.addressCopied,
                  ),
              },
              { id: "id", label: t.copyId, icon: Hash, run: () => copy(record.id, t.idCopied) },
              ...(may.has("delete") && !isDeleted
                ? ([
                    "separator",
                    { id: "delete", label: t.delete, icon: Trash2, run: () => setDeleting(true) },
                  ] as const)
                : []),
            ]}
          >
            <IconButton icon={MoreHorizontal} label={t.actions} />
          </Menu>
          <span className={style.wide}>
            <IconButton
              icon={isFull ? Minimize2 : Maximize2}
              label={isFull ? t.closeFull : t.openFull}
              onPress={() => setFull(!isFull)}
            />
          </span>
          <IconButton icon={X} label={t.close} onPress={onClose} />
        </div>
      </header>
      <div className={`${style.body} ${isDeleted ? style.deleted : ""}`}>
        {isDeleted && (
          <Deleted project={project} template={template.slug} record={record} name={name} may={may} />
        )}
        <ChangeBar project={project} shown={shown} onHistory={() => setTab("history")} />
        <Tabs
          label={t.record}
          items={items}
          selected={items.some(({ id }) => id === tab) ? tab : "details"}
          onSelect={(next) => setTab(next as Tab)}
        />
      </div>
      {isDeleting && (
        <DeleteQuestion
          project={project}
          template={template.slug}
          record={record}
          name={name}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  );
}
