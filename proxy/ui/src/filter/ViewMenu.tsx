import { Bookmark, Check, ChevronDown } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Separator,
} from "react-aria-components";
import { sentence } from "../api/problem";
import { privileges, useMe, useTemplates, type View } from "../api/queries";
import { Button } from "../components/Button";
import button from "../components/Button.module.css";
import select from "../components/Select.module.css";
import { showErrorToast, showToast } from "../components/toast";
import { messages } from "../language";
import style from "./ViewMenu.module.css";
import { bySlug, isSameSearch, type SavedSearch, saveView, searchToSave, useViews, viewName } from "./view";

const dialogs = () => import("./ViewDialogs");
const NewViewDialog = lazy(async () => ({ default: (await dialogs()).NewViewDialog }));
const ViewDetailsDialog = lazy(async () => ({ default: (await dialogs()).ViewDetailsDialog }));
const DeleteViewDialog = lazy(async () => ({ default: (await dialogs()).DeleteViewDialog }));

const t = messages.filter;

type Props = {
  project: string;
  template: string;
  /** The slug of the open view. */
  open: string | null;
  /** The current search: conditions, text, sort and, if chosen, columns. */
  current: SavedSearch;
  /** Opens a view as saved; null for all records. */
  onOpen: (view: View | null) => void;
  /** The current search is now saved in the view. */
  onSaved: (view: View) => void;
};

type DialogName = "new" | "details" | "delete";

/** The saved views of a template: open, save, rename and delete them. */
export function ViewMenu({ project, template, open, current, onOpen, onSaved }: Props) {
  const views = useViews(project, template);
  const templates = useTemplates(project).data ?? [];
  const me = useMe(project);
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const mayDefine = privileges(me.data, project, template).has("define");
  const view = views.data?.find(({ slug }) => slug === open) ?? null;
  const isChanged = view !== null && !isSameSearch(current, bySlug(view.query, templates));

  const update = async () => {
    if (!view) return;
    try {
      const { slug, label } = view;
      onSaved(await saveView(project, template, { slug, label, query: searchToSave(current, view.query) }));
      showToast(t.viewSaved(viewName(view)));
    } catch (error) {
      showErrorToast(sentence(error));
    }
  };
  const item = (id: string, text: string, run: () => void, isCurrent = false): ReactNode => (
    <MenuItem key={id} id={id} textValue={text} onAction={run} className={select.item ?? ""}>
      <span dir="auto">{text}</span>
      {isCurrent && <Check size={14} role="img" aria-label={t.isOpen} />}
    </MenuItem>
  );
  return (
    <div className={style.views}>
      <MenuTrigger>
        <AriaButton
          className={`${button.button} ${button.plain} ${style.opener}`}
          aria-label={view ? t.viewOpen(viewName(view)) : undefined}
        >
          <Bookmark size={16} aria-hidden />
          <span className={style.name} dir="auto">
            {view ? viewName(view) : t.views}
          </span>
          <ChevronDown size={14} aria-hidden />
        </AriaButton>
        <Popover className={`${select.popover} ${style.popover}`} placement="bottom start">
          <Menu aria-label={t.views} className={select.list ?? ""}>
            <MenuSection>
              <Header className={style.title}>{t.views}</Header>
              {item("(all)", t.allRecords, () => onOpen(null), open === null)}
              {views.data?.map((it) => item(it.slug, viewName(it), () => onOpen(it), it.slug === open))}
              {views.data?.length === 0 && (
                <MenuItem id="(none)" textValue={t.noViews} isDisabled className={select.item ?? ""}>
                  <span>{t.noViews}</span>
                </MenuItem>
              )}
            </MenuSection>
            {(mayDefine || view !== null) && <Separator className={style.line ?? ""} />}
            <MenuSection aria-label={t.view}>
              {view && isChanged && mayDefine && item("(update)", t.updateView(viewName(view)), update)}
              {view && isChanged && item("(restore)", t.restoreView, () => onOpen(view))}
              {mayDefine && item("(new)", t.saveAsLong, () => setDialog("new"))}
              {view &&
                item("(details)", mayDefine ? t.renameView : t.viewDetails, () => setDialog("details"))}
              {view && mayDefine && item("(delete)", t.deleteView, () => setDialog("delete"))}
            </MenuSection>
          </Menu>
        </Popover>
      </MenuTrigger>
      {isChanged && (
        <>
          <span className={style.unsaved} role="status">
            {t.unsaved}
          </span>
          {mayDefine && (
            <Button kind="quiet" onPress={update}>
              {t.save}
            </Button>
          )}
        </>
      )}
      <Suspense fallback={null}>
        {dialog === "new" && (
          <NewViewDialog
            project={project}
            template={template}
            query={searchToSave(current, view?.query)}
            onClose={() => setDialog(null)}
            onSaved={onSaved}
          />
        )}
        {dialog === "details" && view && (
          <ViewDetailsDialog
            project={project}
            template={template}
            view={view}
            mayRename={mayDefine}
            onClose={() => setDialog(null)}
          />
        )}
        {dialog === "delete" && view && (
          <DeleteViewDialog
            project={project}
            template={template}
            view={view}
            onClose={() => setDialog(null)}
            onDeleted={() => onOpen(null)}
          />
        )}
      </Suspense>
    </div>
  );
}
