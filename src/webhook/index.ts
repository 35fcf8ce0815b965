/** Signing and verifying webhook deliveries. Pure. */
export { type DeliveryParts, deliveryHeadersFor, type SignedParts, sign } from './sign.js';
export { type DeliveryToVerify, type RefusalReason, type Verification, verifyDelivery } from './verify-delivery.js';
