import { useRef, useState } from "react";
import { bodyOf, inProject, POST } from "../api/client";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { Failure, Notice } from "../components/Notice";
import { Progress } from "../components/Progress";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import type { Endpoint } from "./draft";
import { readAgain, useDeliveries } from "./queries";

const t = pageMessages.inbound;

type State = {
  step: "closed" | "asking" | "running" | "finished" | "stopped";
  done: number;
  failed: number;
  error?: unknown;
};
const CLOSED: State = { step: "closed", done: 0, failed: 0 };

/** Replays rejected deliveries in chunks until none are left or the user stops it. */
export function ReplayAll({ project, endpoint }: { project: string; endpoint: Endpoint }) {
  const [state, setState] = useState(CLOSED);
  const isStopped = useRef(false);
  const rejected = useDeliveries(project, endpoint.id, "failed");
  const hasRejected = (rejected.data?.pages[0]?.deliveries.length ?? 0) > 0;

  const run = async () => {
    isStopped.current = false;
    let [done, failed, cursor] = [0, 0, null as string | null];
    setState({ step: "running", done, failed });
    try {
      do {
        const chunk = await bodyOf(
          POST("/v1/inbound-endpoints/{endpoint}/deliveries/replay", {
            params: {
              path: { endpoint: endpoint.id },
              query: cursor === null ? {} : { cursor },
              header: inProject(project),
            },
          }),
        );
        done += chunk.done;
        failed += chunk.failed;
        cursor = chunk.next_cursor;
        setState({ step: "running", done, failed });
      } while (cursor !== null && !isStopped.current);
      setState({ step: cursor === null ? "finished" : "stopped", done, failed });
    } catch (error) {
      setState({ step: "stopped", done, failed, error });
    }
    readAgain();
  };
  const close = () => {
    isStopped.current = true;
    setState(CLOSED);
  };
  const { step, done, failed, error } = state;
  return (
    <>
      <Button onPress={() => setState({ ...CLOSED, step: "asking" })} isDisabled={!hasRejected}>
        {t.replayAll}
      </Button>
      <Dialog
        title={step === "asking" ? t.replayAllTitle : t.replayAll}
        isOpen={step !== "closed"}
        isQuestion
        onClose={close}
        actions={
          step === "asking" ? (
            <>
              <Button onPress={close}>{messages.components.cancel}</Button>
              <Button kind="main" onPress={run}>
                {t.replayAll}
              </Button>
            </>
          ) : step === "running" ? (
            <Button
              onPress={() => {
                isStopped.current = true;
              }}
            >
              {t.stop}
            </Button>
          ) : (
            <Button kind="main" onPress={close}>
              {t.close}
            </Button>
          )
        }
      >
        {step === "asking" && <p>{t.replayAllWhat}</p>}
        {step === "running" && (
          <Progress label={t.replaying} value={null} text={t.replayedSoFar(done, failed)} />
        )}
        {step === "finished" && (
          <Notice kind={failed === 0 ? "done" : "attention"}>{t.replayFinished(done, failed)}</Notice>
        )}
        {step === "stopped" && (
          <>
            <p>{t.replayedSoFar(done, failed)}</p>
            {error === undefined ? <p>{t.stopped}</p> : <Failure error={error} />}
          </>
        )}
      </Dialog>
    </>
  );
}
