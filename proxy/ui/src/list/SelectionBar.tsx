import { ArchiveRestore, PencilLine, Trash2, X } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { Privilege, RecordBody, Template } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { messages } from "../language";
import type { Target } from "./bulk";
import { DeleteQuestion } from "./DeleteQuestion";
import style from "./SelectionBar.module.css";
import type { SearchBody } from "./state";
import type { useBulk } from "./useBulk";
import type { Total } from "./useRecords";
import type { Selection } from "./useSelection";

const t = messages.list;
const SetValueDialog = lazy(() => import("./SetValueDialog"));

type Props = {
  project: string;
  template: Template;
  privileges: ReadonlySet<Privilege>;
  selection: Selection;
  records: readonly RecordBody[];
  /** Whether the records are deleted, so that they can only be restored. */
  areDeleted: boolean;
  /** The search that finds all matching records. */
  body: SearchBody;
  total: Total;
  /** Whether more records match than are loaded, and all are selected. */
  hasMore: boolean;
  /** Whether the records match only with a typo. Other records may match by the time they are changed. */
  isNear: boolean;
  bulk: ReturnType<typeof useBulk>;
  onSelectMatching: () => void;
  onClear: () => void;
};

/** The actions on the selected records. */
export function SelectionBar({ selection, records, total, bulk, ...props }: Props) {
  const [asked, setAsked] = useState<"delete" | "set" | null>(null);
  const { isAll, ids } = selection;
  const count = isAll ? (total?.value ?? null) : ids.size;
  const isExact = isAll ? (total?.isExact ?? false) : true;
  const target = (): Target =>
    isAll
      ? { kind: "all", body: props.body }
      : { kind: "some", records: records.filter(({ id }) => ids.has(id)) };
  const close = () => setAsked(null);
  const what = t.aboutRecords(count, isExact);
  return (
    <div className={style.bar} role="toolbar" aria-label={t.selected(ids.size)}>
      <IconButton icon={X} label={t.unselect} size="small" onPress={props.onClear} />
      <span className={style.count} role="status">
        {isAll ? t.allSelected(count, isExact) : t.selected(ids.size)}
      </span>
      {props.hasMore && props.isNear && <span className={style.why}>{t.nearSelects}</span>}
      {props.hasMore && !props.isNear && !isAll && (
        <Button kind="quiet" onPress={props.onSelectMatching}>
          {t.selectMatching(total?.value ?? null, total?.isExact ?? false)}
        </Button>
      )}
      <span className={style.spring} />
      {props.areDeleted && props.privileges.has("update") && (
        <Button
          icon={ArchiveRestore}
          onPress={() => {
            bulk.restore(target(), count);
            props.onClear();
          }}
          isDisabled={bulk.task !== null}
        >
          {t.restore}
        </Button>
      )}
      {!props.areDeleted && props.privileges.has("update") && (
        <Button icon={PencilLine} onPress={() => setAsked("set")} isDisabled={bulk.task !== null}>
          {t.setValue}
        </Button>
      )}
      {!props.areDeleted && props.privileges.has("delete") && (
        <Button icon={Trash2} onPress={() => setAsked("delete")} isDisabled={bulk.task !== null}>
          {t.delete}
        </Button>
      )}
      {asked === "delete" && (
        <DeleteQuestion
          what={what}
          onClose={close}
          onDelete={() => {
            bulk.remove(target(), count);
            props.onClear();
          }}
        />
      )}
      {asked === "set" && (
        <Suspense>
          <SetValueDialog
            project={props.project}
            template={props.template}
            what={what}
            onClose={close}
            onSet={(attribute, value) => bulk.set(target(), count, attribute, value)}
          />
        </Suspense>
      )}
    </div>
  );
}
