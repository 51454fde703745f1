import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Dialog } from "../components/Dialog";
import { Notice } from "../components/Notice";
import { pageMessages } from "../language/pages";

const t = pageMessages.webhooks;

/** A new secret to copy. It is shown only once. */
export function SecretDialog({
  title,
  secret,
  onClose,
}: {
  title: string;
  secret: string;
  onClose: () => void;
}) {
  return (
    <Dialog
      title={title}
      isOpen
      isQuestion
      isShownOnce
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          {t.kept}
        </Button>
      }
    >
      <Notice kind="attention">{t.shownOnce}</Notice>
      <p>{t.secretLead}</p>
      <Code text={secret} what={t.secret} />
    </Dialog>
  );
}
