import { useState } from "react";
import { Button } from "../components/Button";
import { Confirm } from "../components/Confirm";
import { Dialog } from "../components/Dialog";
import { Failure } from "../components/Notice";
import { showToast } from "../components/toast";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import { alter } from "./alter";
import { type Endpoint, readAgain } from "./queries";

const t = pageMessages.webhooks;

type Props = { project: string; endpoint: Endpoint };

/** Pauses an endpoint, or resumes it with or without the changes made during the pause. */
export function Pause({ project, endpoint }: Props) {
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  const pause = async () => {
    await alter(project, endpoint, { enabled: false });
    showToast(t.wasPaused(endpoint.slug));
    await readAgain();
  };
  return (
    <>
      <Button kind={endpoint.enabled ? "plain" : "main"} onPress={() => setAsking(true)}>
        {endpoint.enabled ? t.pause : t.resume}
      </Button>
      {isAsking && endpoint.enabled && (
        <Confirm
          title={t.pauseTitle(endpoint.slug)}
          action={t.pause}
          isDanger={false}
          run={pause}
          onClose={close}
        >
          {t.pauseWhat}
        </Confirm>
      )}
      {isAsking && !endpoint.enabled && <Resume project={project} endpoint={endpoint} onClose={close} />}
    </>
  );
}

function Resume({ project, endpoint, onClose }: Props & { onClose: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const resume = async (skips: boolean) => {
    setBusy(true);
    try {
      await alter(project, endpoint, { enabled: true, ...(skips && { from: "now" as const }) });
      showToast(t.resumed(endpoint.slug));
      onClose();
      await readAgain();
    } catch (error) {
      setError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t.resumeTitle(endpoint.slug)}
      isOpen
      isQuestion
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button onPress={() => resume(true)} isDisabled={isBusy}>
            {t.resumeNow}
          </Button>
          <Button kind="main" onPress={() => resume(false)} isDisabled={isBusy}>
            {t.resumeHere}
          </Button>
        </>
      }
    >
      <p>{t.resumeWhat}</p>
      {error !== undefined && <Failure error={error} />}
    </Dialog>
  );
}
