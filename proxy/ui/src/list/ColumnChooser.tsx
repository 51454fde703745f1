import { Columns3 } from "lucide-react";
import { lazy, Suspense } from "react";
import { Dialog, DialogTrigger, Popover } from "react-aria-components";
import { Button } from "../components/Button";
import { Skeleton } from "../components/Notice";
import { messages } from "../language";
import type { ChooserProps } from "./Chooser";
import style from "./ColumnChooser.module.css";
import list from "./ListPage.module.css";

const t = messages.list;
const Chooser = lazy(() => import("./Chooser"));

/** Chooses and orders the columns of a list. */
export function ColumnChooser(props: ChooserProps) {
  return (
    <DialogTrigger>
      <Button kind="quiet" icon={Columns3} aria-label={t.columns}>
        <span className={list.roomy}>{t.columns}</span>
      </Button>
      <Popover className={style.popover ?? ""} placement="bottom end">
        <Dialog className={style.dialog ?? ""} aria-label={t.columns}>
          <Suspense fallback={<Skeleton lines={6} />}>
            <Chooser {...props} />
          </Suspense>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
