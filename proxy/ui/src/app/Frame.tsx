import { PanelLeft, Search } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { useLocation, useSearch } from "wouter";
import { useProjects } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { Notice } from "../components/Notice";
import { messages } from "../language";
import { useSession } from "../session/session";
import style from "./Frame.module.css";
import { useKeyWatch } from "./keyWatch";
import { OfflineBar } from "./OfflineBar";
import { Overlays } from "./Overlays";
import { show } from "./overlay";
import { Rail } from "./Rail";
import { SignInAgain } from "./SignIn";
import { returnToMyself } from "./session";

const t = messages.frame;

/** The frame of every page of a project: the rail and the overlays. */
export function Frame({ project, children }: { project: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const { rejected } = useSession();
  const main = useRef<HTMLElement>(null);
  const name = useProjects().data?.find(({ slug }) => slug === project)?.name ?? project;
  useKeyWatch();
  return (
    <div className={style.frame}>
      <button type="button" className={style.skip} onClick={() => main.current?.focus()}>
        {t.skip}
      </button>
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
      <main className={style.main} ref={main} tabIndex={-1}>
        <div className={style.bar}>
          <IconButton icon={PanelLeft} label={t.openNavigation} onPress={() => setOpen(true)} />
          <span className={style.project} dir="auto">
            {name}
          </span>
          <IconButton icon={Search} label={t.palette} onPress={() => show("palette")} />
        </div>
        <OfflineBar />
        <RoleBar />
        {/* Data loaded with a revoked key is hidden, and kept for the next key of the same role. */}
        <div className={`${style.content} ${rejected ? style.concealed : ""}`}>{children}</div>
      </main>
      <Overlays project={project} />
      <SignInAgain />
      <RailCloser setOpen={setOpen} />
    </div>
  );
}

/** Closes the rail at a new address. A separate component, because each keystroke of a search changes the address. */
function RailCloser({ setOpen }: { setOpen: (isOpen: boolean) => void }) {
  const [location] = useLocation();
  const search = useSearch();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a saved view is another query of the same list.
  useEffect(() => setOpen(false), [location, search, setOpen]);
  return null;
}

/** Reports that the page is shown as a role. */
export function RoleBar() {
  const { role } = useSession();
  if (role === null) return null;
  return (
    <div className={style.notices}>
      <Notice kind="attention" actions={<Button onPress={returnToMyself}>{t.seeAsMyself}</Button>}>
        {t.seeingAs(role)}
      </Notice>
    </div>
  );
}
