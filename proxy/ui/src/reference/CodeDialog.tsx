import { useState } from "react";
import { Link } from "wouter";
import { useRequestsOnScreen } from "../code/current";
import { Dialog } from "../components/Dialog";
import { Select } from "../components/Select";
import { pageWords } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { Snippets } from "./Snippets";

const t = pageWords.reference;

/** The requests of the current screen, as code. */
export default function CodeDialog({ onClose }: { onClose: () => void }) {
  const shown = useRequestsOnScreen();
  const [place, setPlace] = useState(shown[0]?.place);
  const chosen = shown.find((it) => it.place === place) ?? shown[0];
  return (
    <Dialog title={chosen ? t.useFromCode[chosen.place] : t.codeTitle} isOpen onClose={onClose} width="wide">
      {shown.length > 1 && (
        <Select
          label={t.whatIsShown}
          choices={shown.map((it) => ({ id: it.place, label: t.places[it.place] }))}
          value={chosen?.place ?? null}
          onChange={setPlace}
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
