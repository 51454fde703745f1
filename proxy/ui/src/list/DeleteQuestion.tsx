import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { messages } from "../language";

const t = messages.list;

/** Asks before deleting records. */
export function DeleteQuestion({
  what,
  onDelete,
  onClose,
}: {
  what: string;
  onDelete: () => void;
  onClose: () => void;
}) {
  const remove = () => {
    onDelete();
    onClose();
  };
  return (
    <Dialog
      title={t.deleteTitle(what)}
      isOpen
      isQuestion
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose} autoFocus>
            {messages.components.cancel}
          </Button>
          <Button kind="danger" onPress={remove}>
            {t.deleteAction(what)}
          </Button>
        </>
      }
    >
      <p>{t.deleteLead}</p>
    </Dialog>
  );
}
