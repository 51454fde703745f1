import {
  ArchiveRestore,
  FileDown,
  FileUp,
  MoreHorizontal,
  Plus,
  RefreshCw,
  Settings2,
  Undo2,
} from "lucide-react";
import { useLocation } from "wouter";
import type { ExportFormat } from "../api/export";
import { refreshLists } from "../api/lists";
import type { Privilege, Template } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { type Action, Menu } from "../components/Menu";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import { leftList } from "./remembered";
import { INITIAL, type ListState } from "./state";
import type { Found } from "./useFound";
import type { ChangeState } from "./useListState";

const t = messages.list;

type Props = {
  project: string;
  template: Template;
  privileges: ReadonlySet<Privilege>;
  state: ListState;
  change: ChangeState;
  found: Found;
  /** Whether the actions fit as buttons; otherwise they are in the menu. */
  isWide: boolean;
  onExport: (format: ExportFormat) => void;
  onNew: () => void;
};

/** The actions on a list as a whole. */
export function ListActions({ project, template, privileges, state, change, found, ...props }: Props) {
  const [, navigate] = useLocation();
  const showLive = () => navigate(leftList(project, template.slug));
  const toImport = () => navigate(addresses.import(project, template.slug));
  const toTemplate = () => navigate(addresses.template(project, template.slug));
  const file = (format: ExportFormat, name: string): Action => ({
    id: format,
    label: t.exportAs(name),
    icon: FileDown,
    // Exports contain only live records.
    isDisabled: found.isRanked || state.isDeleted || found.near !== null,
    ...(found.near === null ? {} : { why: t.nearExports }),
    run: () => props.onExport(format),
  });
  const exports = [file("csv", "CSV"), file("ndjson", "NDJSON")];
  const areShown = props.isWide && !state.isDeleted;
  const others: Action[] = [
    {
      id: "refresh",
      label: t.refresh,
      icon: RefreshCw,
      run: () => void refreshLists(project, template.slug),
    },
    {
      id: "deleted",
      label: state.isDeleted ? t.showLive : t.showDeleted,
      icon: ArchiveRestore,
      run: state.isDeleted
        ? showLive
        : () => change({ ...INITIAL, columns: state.columns, isDeleted: true }, true),
    },
  ];
  const actions: Action[] = areShown ? others : [...exports, ...others];
  if (!areShown && (privileges.has("create") || privileges.has("define"))) actions.push("separator");
  if (!areShown && privileges.has("create"))
    actions.push({ id: "import", label: t.import, icon: FileUp, run: toImport });
  if (!areShown && privileges.has("define"))
    actions.push({ id: "definition", label: t.definition, icon: Settings2, run: toTemplate });
  return (
    <>
      {areShown && (
        <>
          {privileges.has("create") && (
            <Button icon={FileUp} onPress={toImport}>
              {t.importShort}
            </Button>
          )}
          <Menu label={t.exportShort} actions={exports}>
            <Button icon={FileDown}>{t.exportShort}</Button>
          </Menu>
          {privileges.has("define") && (
            <Button icon={Settings2} onPress={toTemplate}>
              {t.definitionShort}
            </Button>
          )}
        </>
      )}
      <Menu label={t.more} actions={actions}>
        <IconButton icon={MoreHorizontal} label={t.more} />
      </Menu>
      {state.isDeleted ? (
        <Button icon={Undo2} onPress={showLive}>
          {t.showLive}
        </Button>
      ) : (
        privileges.has("create") && (
          <Button kind="main" icon={Plus} onPress={props.onNew}>
            {t.newRecord}
          </Button>
        )
      )}
    </>
  );
}
