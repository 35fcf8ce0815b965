/** The chats that get a notification as a text for people, by their incoming webhooks. */
export const chats = ['slack', 'teams', 'discord'] as const;
export type Chat = (typeof chats)[number];
