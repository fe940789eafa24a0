package spectest

import (
	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// codecs are those of the definitions by name, which mean the same in every revision.
var codecs = map[string]codec{
	// What may be anywhere.
	"Annotations":                         as[mcp.Annotations](),
	"Icon":                                as[mcp.Icon](),
	"Implementation":                      as[mcp.Implementation](),
	"Role":                                as[mcp.Role](),
	"MetaObject":                          as[mcp.Meta](),
	"NotificationMetaObject":              as[mcp.Meta](),
	"RequestMetaObject":                   as[mcp.Meta](),
	"ResultMetaObject":                    as[mcp.Meta](),
	"SubscriptionsListenResultMetaObject": as[mcp.Meta](),

	// Content.
	"AudioContent":                as[mcp.AudioContent](),
	"BlobResourceContents":        as[mcp.ResourceContents](),
	"ContentBlock":                content,
	"EmbeddedResource":            as[mcp.EmbeddedResource](),
	"ImageContent":                as[mcp.ImageContent](),
	"ResourceLink":                as[mcp.ResourceLink](),
	"SamplingMessageContentBlock": content,
	"TextContent":                 as[mcp.TextContent](),
	"TextResourceContents":        as[mcp.ResourceContents](),
	"ToolResultContent":           as[mcp.ToolResultContent](),
	"ToolUseContent":              as[mcp.ToolUseContent](),

	// Messages as such.
	"JSONRPCBatchRequest":   envelope,
	"JSONRPCBatchResponse":  envelope,
	"JSONRPCError":          envelope,
	"JSONRPCErrorResponse":  envelope,
	"JSONRPCMessage":        envelope,
	"JSONRPCNotification":   envelope,
	"JSONRPCRequest":        envelope,
	"JSONRPCResponse":       envelope,
	"JSONRPCResultResponse": envelope,
	"RequestId":             as[transport.ID](),
	"ProgressToken":         as[transport.ID](),

	// Errors.
	"Error":                                as[mcp.RPCError](),
	"InternalError":                        as[mcp.RPCError](),
	"InvalidParamsError":                   as[mcp.RPCError](),
	"InvalidRequestError":                  as[mcp.RPCError](),
	"MethodNotFoundError":                  as[mcp.RPCError](),
	"ParseError":                           as[mcp.RPCError](),
	"HeaderMismatchError":                  message("error", as[mcp.RPCError]()),
	"MissingRequiredClientCapabilityError": message("error", as[mcp.RPCError]()),
	"UnsupportedProtocolVersionError":      message("error", as[mcp.RPCError]()),
	"URLElicitationRequiredError":          requiredElicitations,

	// The server.
	"DiscoverResult":                              discoverResult,
	"DiscoverResultResponse":                      response(discoverResult),
	"InitializeResult":                            initializeResult,
	"ServerCapabilities":                          capabilities,
	"LoggingLevel":                                as[mcp.LogLevel](),
	"LoggingMessageNotification":                  message("params", as[mcp.LogMessage]()),
	"LoggingMessageNotificationParams":            as[mcp.LogMessage](),
	"SetLevelRequest":                             message("params", setLevel),
	"SetLevelRequestParams":                       setLevel,
	"SubscriptionFilter":                          as[mcp.Filter](),
	"SubscriptionsListenRequest":                  message("params", listen),
	"SubscriptionsListenRequestParams":            listen,
	"SubscriptionsAcknowledgedNotification":       message("params", member("notifications", as[mcp.Filter]())),
	"SubscriptionsAcknowledgedNotificationParams": member("notifications", as[mcp.Filter]()),

	// Tools.
	"CallToolRequest":         message("params", toolCall),
	"CallToolRequestParams":   toolCall,
	"CallToolResult":          as[mcp.CallToolResult](),
	"CallToolResultResponse":  response(as[mcp.CallToolResult]()),
	"ListToolsRequest":        message("params", paged("tools/list", (*mcp.Client).ToolsPage)),
	"ListToolsResult":         page("tools/list", "tools", (*mcp.Client).ToolsPage),
	"ListToolsResultResponse": response(page("tools/list", "tools", (*mcp.Client).ToolsPage)),
	"Tool":                    as[mcp.Tool](),
	"ToolAnnotations":         as[mcp.ToolAnnotations](),
	"ToolChoice":              as[mcp.ToolChoice](),
	"ToolExecution":           as[mcp.ToolExecution](),

	// Resources.
	"ListResourcesRequest":        message("params", paged("resources/list", (*mcp.Client).ResourcesPage)),
	"ListResourcesResult":         resourcesPage,
	"ListResourcesResultResponse": response(resourcesPage),
	"ListResourceTemplatesRequest": message("params",
		paged("resources/templates/list", (*mcp.Client).ResourceTemplatesPage)),
	"ListResourceTemplatesResult":         templatesPage,
	"ListResourceTemplatesResultResponse": response(templatesPage),
	"ReadResourceRequest":                 message("params", resourceRead),
	"ReadResourceRequestParams":           resourceRead,
	"ReadResourceResult":                  as[mcp.ReadResourceResult](),
	"ReadResourceResultResponse":          response(as[mcp.ReadResourceResult]()),
	"Resource":                            as[mcp.Resource](),
	"ResourceTemplate":                    as[mcp.ResourceTemplate](),
	"SubscribeRequest":                    message("params", subscribe),
	"SubscribeRequestParams":              subscribe,
	"UnsubscribeRequest":                  message("params", unsubscribe),
	"UnsubscribeRequestParams":            unsubscribe,

	// Prompts and completion.
	"CompleteRequest":           message("params", completion),
	"CompleteRequestParams":     completion,
	"CompleteResult":            as[mcp.CompleteResult](),
	"CompleteResultResponse":    response(as[mcp.CompleteResult]()),
	"GetPromptRequest":          message("params", promptCall),
	"GetPromptRequestParams":    promptCall,
	"GetPromptResult":           as[mcp.GetPromptResult](),
	"GetPromptResultResponse":   response(as[mcp.GetPromptResult]()),
	"ListPromptsRequest":        message("params", paged("prompts/list", (*mcp.Client).PromptsPage)),
	"ListPromptsResult":         promptsPage,
	"ListPromptsResultResponse": response(promptsPage),
	"Prompt":                    as[mcp.Prompt](),
	"PromptArgument":            as[mcp.PromptArgument](),
	"PromptMessage":             as[mcp.PromptMessage](),
	"PromptReference":           as[mcp.CompleteRef](),
	"ResourceReference":         as[mcp.CompleteRef](),
	"ResourceTemplateReference": as[mcp.CompleteRef](),

	// All requests for a page have the same params.
	"PaginatedRequest":       message("params", paged("tools/list", (*mcp.Client).ToolsPage)),
	"PaginatedRequestParams": paged("tools/list", (*mcp.Client).ToolsPage),

	// Progress, without the token that says which call it belongs to.
	"ProgressNotification":       message("params", progress),
	"ProgressNotificationParams": progress,

	// What a server wants of the client.
	"CreateMessageRequest":       message("params", as[mcp.CreateMessageRequest]()),
	"CreateMessageRequestParams": as[mcp.CreateMessageRequest](),
	"CreateMessageResult":        as[mcp.CreateMessageResult](),
	"ElicitRequest":              message("params", as[mcp.ElicitRequest]()),
	"ElicitRequestFormParams":    as[mcp.ElicitRequest](),
	"ElicitRequestParams":        as[mcp.ElicitRequest](),
	"ElicitRequestURLParams":     as[mcp.ElicitRequest](),
	"ElicitResult":               as[mcp.ElicitResult](),
	"InputRequest":               inputRequest,
	"InputRequests":              each(inputRequest),
	"InputRequiredResult":        inputRequired,
	"InputResponse":              inputResponse,
	"InputResponses":             each(inputResponse),
	"ListRootsResult":            listedRoots,
	"ModelHint":                  as[mcp.ModelHint](),
	"ModelPreferences":           as[mcp.ModelPreferences](),
	"Root":                       as[mcp.Root](),
	"SamplingMessage":            as[mcp.SamplingMessage](),

	// Forms.
	"BooleanSchema":                  field,
	"EnumSchema":                     field,
	"LegacyTitledEnumSchema":         field,
	"MultiSelectEnumSchema":          field,
	"NumberSchema":                   field,
	"PrimitiveSchemaDefinition":      field,
	"SingleSelectEnumSchema":         field,
	"StringSchema":                   field,
	"TitledMultiSelectEnumSchema":    field,
	"TitledSingleSelectEnumSchema":   field,
	"UntitledMultiSelectEnumSchema":  field,
	"UntitledSingleSelectEnumSchema": field,
}

var (
	resourcesPage = page("resources/list", "resources", (*mcp.Client).ResourcesPage)
	templatesPage = page("resources/templates/list", "resourceTemplates", (*mcp.Client).ResourceTemplatesPage)
	promptsPage   = page("prompts/list", "prompts", (*mcp.Client).PromptsPage)
)

// Reasons why a definition has no codec.
const (
	isBase      = "a base of others, which have codecs"
	isUnion     = "a union of others, which have codecs or reasons of their own"
	isTask      = "the experimental tasks of 2025-11-25 are not spoken"
	isOptions   = "follows from Options; what is sent is checked in the messages of a client"
	isEnvelope  = "says nothing beyond its method, or only what correlates it: there is no Go type"
	isAnything  = "any value is kept as the JSON that it is"
	isOneMember = "the one member that counts is given to a handler as it is"
)

// without are the definitions that have no codec, and why.
var without = map[string]string{
	"Annotated":             isBase,
	"BaseMetadata":          isBase,
	"CacheableResult":       isBase,
	"Icons":                 isBase,
	"Notification":          isBase,
	"NotificationParams":    isBase,
	"PaginatedResult":       isBase,
	"Request":               isBase,
	"RequestParams":         isBase,
	"ResourceContents":      isBase,
	"ResourceRequestParams": isBase,
	"Result":                isBase,
	"ResultType":            "complete or input_required: the client sees to the latter",

	"InputResponseRequestParams": isBase,
	"TaskAugmentedRequestParams": isBase,

	"ClientNotification": isUnion,
	"ClientRequest":      isUnion,
	"ClientResult":       isUnion,
	"ServerNotification": isUnion,
	"ServerRequest":      isUnion,
	"ServerResult":       isUnion,

	"CancelTaskRequest":            isTask,
	"CancelTaskResult":             isTask,
	"CreateTaskResult":             isTask,
	"GetTaskPayloadRequest":        isTask,
	"GetTaskPayloadResult":         isTask,
	"GetTaskRequest":               isTask,
	"GetTaskResult":                isTask,
	"ListTasksRequest":             isTask,
	"ListTasksResult":              isTask,
	"RelatedTaskMetadata":          isTask,
	"Task":                         isTask,
	"TaskMetadata":                 isTask,
	"TaskStatus":                   isTask,
	"TaskStatusNotification":       isTask,
	"TaskStatusNotificationParams": isTask,

	"ClientCapabilities":      isOptions,
	"InitializeRequest":       isOptions,
	"InitializeRequestParams": isOptions,

	"CancelledNotification":             isEnvelope,
	"CancelledNotificationParams":       isEnvelope,
	"Cursor":                            isEnvelope,
	"DiscoverRequest":                   isEnvelope,
	"EmptyResult":                       isEnvelope,
	"InitializedNotification":           isEnvelope,
	"ListRootsRequest":                  isEnvelope,
	"PingRequest":                       isEnvelope,
	"PromptListChangedNotification":     isEnvelope,
	"ResourceListChangedNotification":   isEnvelope,
	"RootsListChangedNotification":      isEnvelope,
	"SubscriptionsListenResult":         isEnvelope,
	"SubscriptionsListenResultResponse": isEnvelope,
	"ToolListChangedNotification":       isEnvelope,

	"ElicitationCompleteNotification":   isOneMember,
	"ResourceUpdatedNotification":       isOneMember,
	"ResourceUpdatedNotificationParams": isOneMember,

	"JSONArray":  isAnything,
	"JSONObject": isAnything,
	"JSONValue":  isAnything,
}
