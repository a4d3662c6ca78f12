export { childEnvironment } from './child-environment.ts';
export { cobblerHome, type FileConfig, type LoadedConfig, loadConfig, parseConfig } from './config-file.ts';
export { type Anchor, HeldDirectory } from './held-directory.ts';
export { OutputCapture } from './output-capture.ts';
export type { ProcessEntry } from './process-table.ts';
export {
  type ProcessEnd,
  type ProcessOptions,
  type ProcessSystem,
  type SupervisedProcess,
  superviseProcess,
} from './process-tree.ts';
export {
  fileError,
  type OpenFile,
  quotePath,
  Workspace,
  type WorkspaceOptions,
  type WriteOptions,
} from './real-path.ts';
export { nodeTransport } from './transport.ts';
