/** Claude as the command line uses it. Importing this file when it is needed loads no other part of the provider. */
export {
  claudeModels as models,
  claudePrices as prices,
  claudePricing as pricing,
  createClaude as create,
} from '@cobbler/provider-claude';
