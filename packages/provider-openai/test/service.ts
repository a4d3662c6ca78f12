import type { ProviderTesting, WireScript, WireServer } from '@cobbler/agent/testing';
import { replies, scriptResponse, serveLoopback, wireServer } from '@cobbler/agent/testing';

/** A service on this machine and what it was asked. */
export interface Service extends Pick<WireServer, 'exchanges'> {
  readonly url: string;
}

/** Answers that nobody looks at. */
export const fine: WireScript = () => replies(scriptResponse(['Fine.']));

/** Plays a script as a service for as long as it is used. */
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
