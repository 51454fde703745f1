import { X } from "lucide-react";
import {
  UNSTABLE_Toast as AriaToast,
  UNSTABLE_ToastContent as Content,
  UNSTABLE_ToastQueue as Queue,
  UNSTABLE_ToastRegion as Region,
  Text,
} from "react-aria-components";
import { offerUndo, withdrawUndo } from "../navigation/undo";
import { Button, IconButton } from "./Button";
import style from "./toast.module.css";

type Message = { text: string; kind: "done" | "rejection"; action?: { label: string; run: () => void } };

const queue = new Queue<Message>({ maxVisibleToasts: 3 });
/** The messages with an undo button, by subject. */
const messages = new Map<string, string>();

/** Shows a completed action at the bottom of the page, with an undo button if there is one. */
export function showToast(text: string, action?: Message["action"], about?: string) {
  const timeout = action ? 12_000 : 5_000;
  const key = queue.add({ text, kind: "done", ...(action && { action }) }, { timeout });
  if (action === undefined || about === undefined) return;
  messages.set(about, key);
  offerUndo(about, () => {
    queue.close(key);
    action.run();
  });
}

/** Removes the undo button of a subject after the change was undone elsewhere. */
export function withdraw(about: string) {
  const key = messages.get(about);
  if (key !== undefined) queue.close(key);
  messages.delete(about);
  withdrawUndo(about);
}

/** Shows an error at the bottom of the page until it is closed. */
export function showErrorToast(text: string) {
  queue.add({ text, kind: "rejection" });
}

/** The region that shows these messages. */
export function Toasts() {
  return (
    <Region queue={queue} className={style.region ?? ""} aria-label="Messages">
      {({ toast }) => (
        <AriaToast toast={toast} className={`${style.toast} ${style[toast.content.kind]}`}>
          <Content className={style.text ?? ""}>
            {/* Names the message for screen readers. */}
            <Text slot="title">{toast.content.text}</Text>
          </Content>
          {toast.content.action && (
            <Button
              kind="quiet"
              onPress={() => {
                toast.content.action?.run();
                queue.close(toast.key);
              }}
            >
              {toast.content.action.label}
            </Button>
          )}
          <IconButton icon={X} label="Close" slot="close" size="small" />
        </AriaToast>
      )}
    </Region>
  );
}
