import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Maximum bytes of one message of a server: the same as for one offloaded output. */
export const maxMessageBytes = 16_777_216;

/** A way to a server that can say how it ended. */
export interface McpTransport extends Transport {
  /** Its end in words, to follow the server's name: `ended (exit code 1)`. */
  ending(): string;
  /** The last standard error of the server; may be empty. May contain secrets. */
  lastWords(): string;
}
