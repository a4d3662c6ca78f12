/**
 * A tool that fetches web pages as text.
 *
 * @module
 */

export { type WebFetchArgs, type WebFetchOptions, webFetchTool } from './web-fetch.ts';
export type { WebRequest, WebResponse } from './web-request.ts';
