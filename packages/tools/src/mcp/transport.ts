import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Maximum number of bytes of one message of a server, the same as for one offloaded output. */
export const maxMessageBytes = 16_777_216;

/** A transport that can describe how it ended. */
export interface McpTransport extends Transport {
  /** Describes the end, as text that follows the server's name: `exited with code 1`. */
  ending(): string;
  /** The end of the server's standard error; may be empty, and may contain secrets. */
  lastWords(): string;
}
