/** Signs and verifies deliveries of the service and notifications of sandflow. All functions are pure. */

export { type DeliveryParts, deliveryHeadersFor, type SignedParts, sign } from './sign-delivery.js';
export {
  isNotificationSecret,
  type NotificationParts,
  type NotificationToVerify,
  type NotificationVerification,
  notificationHeaders,
  verifyNotification,
} from './sign-notification.js';
export { type DeliveryToVerify, type RefusalReason, type Verification, verifyDelivery } from './verify-delivery.js';
