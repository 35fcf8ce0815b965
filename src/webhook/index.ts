/** Signing and verifying: deliveries of the service, and notifications of sandflow. Pure. */
export {
  isNotificationSecret,
  type NotificationParts,
  type NotificationToVerify,
  type NotificationVerification,
  notificationHeaders,
  verifyNotification,
} from './notification.js';
export { type DeliveryParts, deliveryHeadersFor, type SignedParts, sign } from './sign.js';
export { type DeliveryToVerify, type RefusalReason, type Verification, verifyDelivery } from './verify-delivery.js';
