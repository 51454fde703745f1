import { Button } from "../components/Button";
import { Code } from "../components/Code";
import { Dialog } from "../components/Dialog";
import { Notice } from "../components/Notice";
import { pageMessages } from "../language/pages";
import { deliveryCommand } from "./command";
import style from "./Mapping.module.css";

const t = pageMessages.inbound;

type Props = {
  title: string;
  token: string | null;
  secret: string | null;
  /** Whether deliveries need a signature. */
  isSigned: boolean;
  /** The body of the example. */
  sample: string;
  onClose: () => void;
};

/** Generated credentials, to copy. They are shown only once. */
export function Credentials({ title, token, secret, isSigned, sample, onClose }: Props) {
  const address = token === null ? null : `${location.origin}/v1/inbound/${token}`;
  const hasExample = address !== null && (!isSigned || secret !== null);
  return (
    <Dialog
      title={title}
      isOpen
      isQuestion
      isShownOnce
      width="wide"
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          {t.kept}
        </Button>
      }
    >
      <Notice kind="attention">{t.shownOnce}</Notice>
      {address !== null && (
        <div className={style.choice}>
          <h3>{t.address}</h3>
          <p>{t.addressLead}</p>
          <Code text={address} what={t.address} />
        </div>
      )}
      {secret !== null && (
        <div className={style.choice}>
          <h3>{t.secretTitle}</h3>
          <p>{t.secretLead}</p>
          <Code text={secret} what={t.secretTitle} />
        </div>
      )}
      {hasExample && (
        <div className={style.choice}>
          <h3>{t.example}</h3>
          <Code text={deliveryCommand(address, sample, secret)} what={t.example} isBlock />
        </div>
      )}
    </Dialog>
  );
}
