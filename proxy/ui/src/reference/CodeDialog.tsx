import { useState } from "react";
import { Link } from "wouter";
import { useRequestsOnScreen } from "../code/current";
import { Dialog } from "../components/Dialog";
import { Select } from "../components/Select";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { Snippets } from "./Snippets";

const t = pageMessages.reference;

/** The requests of the current screen, as code. */
export default function CodeDialog({ onClose }: { onClose: () => void }) {
  const onScreen = useRequestsOnScreen();
  const [scope, setScope] = useState(onScreen[0]?.scope);
  const chosen = onScreen.find((it) => it.scope === scope) ?? onScreen[0];
  return (
    <Dialog title={chosen ? t.useFromCode[chosen.scope] : t.codeTitle} isOpen onClose={onClose} width="wide">
      {onScreen.length > 1 && (
        <Select
          label={t.onThisScreen}
          choices={onScreen.map((it) => ({ id: it.scope, label: t.scopes[it.scope] }))}
          value={chosen?.scope ?? null}
          onChange={setScope}
        />
      )}
      {chosen ? <Snippets request={chosen.request} /> : <p>{t.nothingOnScreen}</p>}
      <p>
        <Link href={addresses.reference()} onClick={onClose}>
          {t.readReference}
        </Link>
      </p>
    </Dialog>
  );
}
