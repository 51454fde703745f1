import { PanelLeft } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { useLocation } from "wouter";
import { Button, IconButton } from "../components/Button";
import { Notice } from "../components/Notice";
import { words } from "../language";
import { seeAsMyself, useSession } from "../session/session";
import style from "./Frame.module.css";
import { Palette } from "./Palette";
import { Rail } from "./Rail";
import { ShortcutHelp } from "./ShortcutHelp";
import { SignInAgain } from "./SignIn";

const t = words.frame;

/** What surrounds every page of a project: the rail, and what floats above all pages. */
export function Frame({ project, children }: { project: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [location] = useLocation();
  const { role } = useSession();
  useEffect(() => setOpen(false), [location]);
  return (
    <div className={style.frame}>
      <nav className={style.rail} aria-label={t.navigation}>
        <Rail project={project} />
      </nav>
      <ModalOverlay className={style.veil ?? ""} isOpen={isOpen} onOpenChange={setOpen} isDismissable>
        <Modal className={style.sheet ?? ""}>
          <Dialog className={style.sheetDialog ?? ""} aria-label={t.navigation}>
            <Rail project={project} isSheet />
          </Dialog>
        </Modal>
      </ModalOverlay>
      <main className={style.main}>
        <div className={style.bar}>
          <IconButton icon={PanelLeft} label={t.openNavigation} onPress={() => setOpen(true)} />
          <span>{t.product}</span>
        </div>
        {role !== null && (
          <Notice kind="attention" actions={<Button onPress={seeAsMyself}>{t.seeAsMyself}</Button>}>
            {t.seeingAs(role)}
          </Notice>
        )}
        <div className={style.content}>{children}</div>
      </main>
      <Palette project={project} />
      <ShortcutHelp />
      <SignInAgain />
    </div>
  );
}
