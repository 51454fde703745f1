import { ArchiveRestore, SearchX, Table2 } from "lucide-react";
import { useLocation } from "wouter";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { Empty } from "../components/Empty";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import style from "./ListPage.module.css";

const t = messages.list;

type Props = {
  project: string;
  template: Template;
  isSearched: boolean;
  areDeleted: boolean;
  mayCreate: boolean;
  onClear: () => void;
  onNew: () => void;
};

/** An empty list: nothing matches, or there are no records. */
export function EmptyList({ project, template, isSearched, areDeleted, ...props }: Props) {
  const { mayCreate, onClear, onNew } = props;
  const [, navigate] = useLocation();
  if (isSearched) {
    return (
      <Empty icon={SearchX} title={t.nothingTitle} action={<Button onPress={onClear}>{t.clearAll}</Button>}>
        {t.nothingLead}
      </Empty>
    );
  }
  if (areDeleted)
    return (
      <Empty icon={ArchiveRestore} title={t.noDeleted}>
        {t.noDeletedLead}
      </Empty>
    );
  const title = t.emptyTitle(template.label ?? template.slug);
  if (!mayCreate)
    return (
      <Empty icon={Table2} title={title}>
        {t.emptyLeadReader}
      </Empty>
    );
  return (
    <Empty
      icon={Table2}
      title={title}
      action={
        <div className={style.actions}>
          <Button onPress={() => navigate(addresses.import(project, template.slug))}>{t.import}</Button>
          <Button kind="main" onPress={onNew}>
            {t.newRecord}
          </Button>
        </div>
      }
    >
      {t.emptyLead}
    </Empty>
  );
}
