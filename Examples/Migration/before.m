// A client as it was written for AFNetworking 2.7. It is not compiled here. The same client as it is written now:
// ../Sources/Migration/main.swift

#import <AFNetworking/AFNetworking.h>

static NSString * const PhotoErrorDomain = @"PhotoErrorDomain";

#pragma mark - Takes the "data" out of {"status": "ok", "data": ...}

@interface EnvelopeSerializer : AFJSONResponseSerializer
@end

@implementation EnvelopeSerializer

- (id)responseObjectForResponse:(NSURLResponse *)response
                           data:(NSData *)data
                          error:(NSError *__autoreleasing *)error {
    id object = [super responseObjectForResponse:response data:data error:error];
    if (![object isKindOfClass:[NSDictionary class]] || (error && *error)) {
        return object;
    }
    if ([object[@"status"] isEqual:@"ok"]) {
        return object[@"data"];
    }
    if (error) {
        *error = [NSError errorWithDomain:PhotoErrorDomain
                                     code:1
                                 userInfo:@{NSLocalizedDescriptionKey: object[@"message"] ?: @"no message"}];
    }
    return nil;
}

@end

#pragma mark - The client

@interface PhotoClient : AFHTTPRequestOperationManager
@property (nonatomic, readonly) NSInteger running;
@property (nonatomic, copy) NSString *secret;
@end

@interface PhotoClient ()
@property (nonatomic, readwrite) NSInteger running;
@property (nonatomic, strong) AFHTTPRequestOperationManager *login;
@end

@implementation PhotoClient

- (instancetype)initWithBaseURL:(NSURL *)url secret:(NSString *)secret {
    self = [super initWithBaseURL:url];
    if (!self) {
        return nil;
    }
    self.secret = secret;
    self.login = [[AFHTTPRequestOperationManager alloc] initWithBaseURL:url];
    self.responseSerializer = [EnvelopeSerializer serializer];
    self.operationQueue.maxConcurrentOperationCount = 4;
    [self.requestSerializer setValue:@"photos/1.0" forHTTPHeaderField:@"User-Agent"];
    [self.requestSerializer setValue:@"Bearer old" forHTTPHeaderField:@"Authorization"];
    self.requestSerializer.timeoutInterval = 20;
    self.securityPolicy = [AFSecurityPolicy policyWithPinningMode:AFSSLPinningModeNone];

    NSNotificationCenter *center = [NSNotificationCenter defaultCenter];
    [center addObserver:self
               selector:@selector(didStart:)
                   name:AFNetworkingOperationDidStartNotification
                 object:nil];
    [center addObserver:self
               selector:@selector(didFinish:)
                   name:AFNetworkingOperationDidFinishNotification
                 object:nil];

    __weak NSOperationQueue *queue = self.operationQueue;
    self.reachabilityManager = [AFNetworkReachabilityManager managerForDomain:url.host];
    [self.reachabilityManager setReachabilityStatusChangeBlock:^(AFNetworkReachabilityStatus status) {
        [queue setSuspended:(status == AFNetworkReachabilityStatusNotReachable)];
    }];
    [self.reachabilityManager startMonitoring];
    return self;
}

- (void)dealloc {
    [[NSNotificationCenter defaultCenter] removeObserver:self];
}

- (void)didStart:(NSNotification *)notification {
    self.running += 1;
}

- (void)didFinish:(NSNotification *)notification {
    self.running -= 1;
}

#pragma mark - A token that expired: a new one, and the request once more

- (AFHTTPRequestOperation *)HTTPRequestOperationWithRequest:(NSURLRequest *)request
                                                    success:(void (^)(AFHTTPRequestOperation *, id))success
                                                    failure:(void (^)(AFHTTPRequestOperation *, NSError *))failure {
    return [super HTTPRequestOperationWithRequest:request
                                          success:success
                                          failure:^(AFHTTPRequestOperation *operation, NSError *error) {
        if (operation.response.statusCode != 401) {
            if (failure) failure(operation, error);
            return;
        }
        [self refreshThen:^(NSError *refreshError) {
            if (refreshError) {
                if (failure) failure(operation, refreshError);
                return;
            }
            NSMutableURLRequest *again = [request mutableCopy];
            [again setValue:[self.requestSerializer valueForHTTPHeaderField:@"Authorization"]
         forHTTPHeaderField:@"Authorization"];
            [self.operationQueue addOperation:[super HTTPRequestOperationWithRequest:again
                                                                             success:success
                                                                             failure:failure]];
        }];
    }];
}

- (void)refreshThen:(void (^)(NSError *error))completion {
    [self.login POST:@"token" parameters:@{@"secret": self.secret}
             success:^(AFHTTPRequestOperation *operation, id object) {
        NSString *field = [NSString stringWithFormat:@"Bearer %@", object[@"token"]];
        [self.requestSerializer setValue:field forHTTPHeaderField:@"Authorization"];
        completion(nil);
    } failure:^(AFHTTPRequestOperation *operation, NSError *error) {
        completion(error);
    }];
}

#pragma mark - Requests

- (void)usersOnPage:(NSInteger)page completion:(void (^)(NSArray *users, NSError *error))completion {
    [self GET:@"users" parameters:@{@"page": @(page)}
      success:^(AFHTTPRequestOperation *operation, id object) { completion(object, nil); }
      failure:^(AFHTTPRequestOperation *operation, NSError *error) { completion(nil, error); }];
}

- (void)sendPhoto:(NSURL *)file
            title:(NSString *)title
         progress:(void (^)(long long sent, long long expected))progress
       completion:(void (^)(NSNumber *identifier, NSError *error))completion {
    AFHTTPRequestOperation *operation = [self POST:@"photos" parameters:@{@"title": title}
        constructingBodyWithBlock:^(id<AFMultipartFormData> form) {
            [form appendPartWithFileURL:file name:@"photo" error:nil];
        }
        success:^(AFHTTPRequestOperation *operation, id object) { completion(object[@"id"], nil); }
        failure:^(AFHTTPRequestOperation *operation, NSError *error) { completion(nil, error); }];
    [operation setUploadProgressBlock:^(NSUInteger bytes, long long total, long long expected) {
        progress(total, expected);
    }];
}

#pragma mark - A big file, with a pause

- (AFHTTPRequestOperation *)download:(NSString *)path
                              toFile:(NSString *)file
                          completion:(void (^)(NSError *error))completion {
    NSURL *url = [NSURL URLWithString:path relativeToURL:self.baseURL];
    AFHTTPRequestOperation *operation =
        [[AFHTTPRequestOperation alloc] initWithRequest:[NSURLRequest requestWithURL:url]];
    operation.outputStream = [NSOutputStream outputStreamToFileAtPath:file append:NO];
    __weak AFHTTPRequestOperation *weakOperation = operation;
    __block BOOL hasPaused = NO;
    [operation setDownloadProgressBlock:^(NSUInteger bytes, long long total, long long expected) {
        if (!hasPaused) {
            hasPaused = YES;
            [weakOperation pause];
            [weakOperation resume];
        }
    }];
    [operation setCompletionBlockWithSuccess:^(AFHTTPRequestOperation *operation, id object) { completion(nil); }
                                     failure:^(AFHTTPRequestOperation *operation, NSError *error) { completion(error); }];
    [self.operationQueue addOperation:operation];
    return operation;
}

#pragma mark - Many small files

- (void)thumbnails:(NSArray *)paths
          progress:(void (^)(NSUInteger finished, NSUInteger total))progress
        completion:(void (^)(NSArray *data))completion {
    NSMutableArray *members = [NSMutableArray array];
    for (NSString *path in paths) {
        NSURL *url = [NSURL URLWithString:path relativeToURL:self.baseURL];
        AFHTTPRequestOperation *operation =
            [[AFHTTPRequestOperation alloc] initWithRequest:[NSURLRequest requestWithURL:url]];
        [members addObject:operation];
    }
    NSArray *operations = [AFURLConnectionOperation batchOfRequestOperations:members
        progressBlock:progress
        completionBlock:^(NSArray *operations) {
            NSMutableArray *data = [NSMutableArray array];
            for (AFHTTPRequestOperation *operation in operations) {
                [data addObject:operation.error ? [NSNull null] : operation.responseData];
            }
            completion(data);
        }];
    [self.operationQueue addOperations:operations waitUntilFinished:NO];
}

@end
