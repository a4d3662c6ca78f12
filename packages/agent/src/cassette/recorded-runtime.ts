import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Ports } from './ports.ts';

/**
 * Creates the runtime of a recorded run. Its clocks do not advance between two inputs, so what a run reads depends
 * only on its inputs and not on the speed of the machine. A timer that fires is an input.
 */
export function recordedRuntime(ports: Ports, real: Runtime, fetch: Runtime['fetch']): Runtime {
  let digests: Promise<unknown> = Promise.resolve();
  return {
    now: () => ports.startedAt + Math.floor(ports.at),
    monotonic: () => ports.at,
    timer(ms, fire) {
      const dueAt = ports.at + Math.max(ms, 0);
      let takeBack = () => {};
      const port = ports.open(`timer ${dueAt}`, {
        dueAt,
        take() {
          port.close();
          fire();
        },
        start(put) {
          takeBack = real.timer(ms, () => put({}));
        },
      });
      return () => {
        port.close();
        takeBack();
      };
    },
    random: () => ports.random(),
    id: () => ports.id(),
    digest(text) {
      // Not recorded, because the result depends only on the text. Digests run one after another, because their
      // durations vary.
      const digest = digests.then(() => real.digest(text));
      digests = digest.catch(() => undefined);
      return ports.during(digest);
    },
    fetch,
  };
}

/** Rejects, because a replay has no network access. */
export function noNetwork(): Promise<never> {
  const message = "A replay has no network access. Send all requests through the recording's transport.";
  return Promise.reject(new AgentError({ kind: 'agent', code: 'replay_miss', message }));
}
