import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { IconButton } from "./Button";
import style from "./Dialog.module.css";

type Props = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** A question stays open until the user answers it. Other dialogs close on a click outside. */
  isQuestion?: boolean;
  /** Escape does not close the dialog either, because its content cannot be shown again. */
  isShownOnce?: boolean;
  width?: "narrow" | "wide";
  /** The buttons at the bottom; the last is the main action. */
  actions?: ReactNode;
  children: ReactNode;
};

/** A dialog over the page. */
export function Dialog({
  title,
  isOpen,
  onClose,
  isQuestion,
  isShownOnce = false,
  width = "narrow",
  actions,
  children,
}: Props) {
  return (
    <ModalOverlay
      className={style.veil ?? ""}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isQuestion}
      isKeyboardDismissDisabled={isShownOnce}
    >
      <Modal className={`${style.modal} ${style[width]}`}>
        <AriaDialog className={style.dialog ?? ""} {...(isQuestion ? { role: "alertdialog" as const } : {})}>
          <header className={style.head}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton icon={X} label="Close" onPress={onClose} />
          </header>
          <div className={style.body}>{children}</div>
          {actions && <footer className={style.foot}>{actions}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
