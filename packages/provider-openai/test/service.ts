import type { ProviderTesting, WireScript, WireServer } from '@cobbler/agent/testing';
import { replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';

/** A local service and the requests that it received. */
export interface Service extends Pick<WireServer, 'exchanges'> {
  readonly url: string;
}

/** A script whose responses do not matter. */
export const fine: WireScript = () => replies(scriptResponse(['Fine.']));

/** Runs a local service that plays a script until `use` settles. */
export async function withService(
  testing: ProviderTesting,
  script: WireScript,
  use: (service: Service) => Promise<void>,
): Promise<void> {
  const server = wireServer(testing, script);
  const loopback = await serveLoopback(server.handler);
  try {
    await use({ url: loopback.url, exchanges: server.exchanges });
  } finally {
    await loopback.close();
  }
}
