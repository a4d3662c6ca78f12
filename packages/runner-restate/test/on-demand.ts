import type { RunnerEnvironment } from '@cobbler/conformance';
import type { RestateCluster } from './restate-server.ts';
import { missingRestate, startRestate } from './restate-server.ts';
import { restateStand } from './restate-stand.ts';

/** Returns an environment for the runner contract, whose engine starts with the first case. */
export function restateOnDemand(): {
  readonly subject: RunnerEnvironment;
  /** The reason why the engine cannot start here, and how to install what is missing. */
  readonly missing: string | undefined;
  stop(): Promise<void>;
} {
  let started: Promise<RestateCluster> | undefined;
  let cluster: RestateCluster | undefined;
  const stand = restateStand(() => {
    if (cluster === undefined) throw new Error('Restate has not been started.');
    return cluster;
  });
  return {
    missing: missingRestate(),
    subject: {
      ...stand,
      async place() {
        started ??= startRestate();
        cluster = await started;
        return await stand.place();
      },
    },
    async stop() {
      await started?.catch(() => undefined);
      await cluster?.stop();
    },
  };
}
