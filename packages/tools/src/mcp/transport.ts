import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Most bytes of one message of a server: as much of one output as is ever put away. */
export const maxMessageBytes = 16_777_216;

/** A way to a server that can say how it ended. */
export interface McpTransport extends Transport {
  /** How it ended, after the name of the server: `ended (exit code 1)`. */
  ending(): string;
  /** What the server said last beside the protocol; empty when nothing. May hold secrets. */
  lastWords(): string;
}
